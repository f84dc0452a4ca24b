"""Named switches with their children and nodes, as Slurm and topograph list them, to placed domains.

Refused, each with both places: a switch defined twice, a child that nobody defines, a switch that is its own child,
cycles, a node under two switches that have little else in common. Where switches share children or most of their
nodes (two roots of a fat tree, the rails of one unit) `fabric` finds the tree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Placed
from lws_volcano.topology.importers.fabric import Fabric, locality_tree
from lws_volcano.topology.importers.notes import Notes

__all__ = ["Switch", "switch_tree"]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch as written; `where` names file and line, `speed` is that of its links in GB/s where it is known."""

    name: str
    where: str
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    speed: Fraction | None = None


def switch_tree(written: Sequence[Switch], notes: Notes, ignore: frozenset[str] = frozenset()) -> list[Placed]:
    """Domains of the switches; the tier of a switch is its height above the leaves."""
    unknown = sorted(ignore - {switch.name for switch in written})
    if unknown:
        notes.warn(f"nothing to ignore: no switch is named {examples(unknown)}", mend="check the names")
    unique = _unique(written, notes)
    refused = {switch.name for switch in written} - unique.keys()
    switches = _known_children(unique, ignore, refused, notes)
    switches = _acyclic(switches, notes)
    parents = _parents(switches)
    overlaps = _shared_nodes(switches, notes)
    if overlaps or any(len(above) > 1 for above in parents.values()):
        _say_no_tree(parents, notes)
        return locality_tree(_fabric(switches), notes)
    switches = _without_repeats(switches)
    heights = _heights(switches)
    return [
        Placed(name, heights[name], next(iter(parents.get(name, ())), None), switch.nodes)
        for name, switch in switches.items()
    ]


def _say_no_tree(parents: Mapping[str, Sequence[str]], notes: Notes) -> None:
    several = [f"{child} (below {examples(above)})" for child, above in parents.items() if len(above) > 1]
    if several:
        notes.warn(
            f"{len(several)} switches have more than one parent, {examples(several)}: the network is no tree, "
            "what is written here is the tree of what is close to what"
        )


def _spot(where: str) -> str:
    """The line alone where there is one: the file is named already."""
    _, _, line = where.rpartition(":")
    return f"line {line}" if line.isdigit() else where


def _unique(written: Iterable[Switch], notes: Notes) -> dict[str, Switch]:
    seen: dict[str, list[Switch]] = {}
    for switch in written:
        seen.setdefault(switch.name, []).append(switch)
    for name, same in seen.items():
        if len(same) > 1:
            places = " and ".join(_spot(switch.where) for switch in same)
            notes.error(f"{name} is defined on {places}", same[1].where, "keep one of them")
    return {name: same[0] for name, same in seen.items() if len(same) == 1}


def _known_children(
    switches: Mapping[str, Switch], ignore: frozenset[str], refused: set[str], notes: Notes
) -> dict[str, Switch]:
    known = {name: switch for name, switch in switches.items() if name not in ignore}
    named = known.keys() | ignore | refused
    sound: dict[str, Switch] = {}
    for name, switch in known.items():
        strange = [child for child in switch.children if child not in named]
        if name in switch.children:
            notes.error(f"{name} is its own child: {name} -> {name}", switch.where, "take it out of its children")
        if strange:
            notes.error(
                f"{name} has children that are not defined: {examples(strange)}",
                switch.where,
                "define them, or take them out",
            )
        children = tuple(child for child in dict.fromkeys(switch.children) if child in known and child != name)
        sound[name] = replace(switch, children=children)
    return sound


def _acyclic(switches: Mapping[str, Switch], notes: Notes) -> dict[str, Switch]:
    """Without the switches that are on a cycle, each of which is noted."""
    bad: set[str] = set()
    for cycle in _cycles(switches):
        notes.error(
            f"switches form a cycle: {' -> '.join([*cycle[:8], *(['...'] if len(cycle) > 8 else []), cycle[0]])}",  # noqa: PLR2004
            switches[cycle[0]].where,
            "a switch can't be above itself",
        )
        bad.update(cycle)
    kept = {name: switch for name, switch in switches.items() if name not in bad}
    return {
        name: replace(switch, children=tuple(child for child in switch.children if child in kept))
        for name, switch in kept.items()
    }


def _cycles(switches: Mapping[str, Switch]) -> list[list[str]]:
    """One cycle for each place where the walk comes back to its own path; no recursion, each edge once."""
    done: set[str] = set()
    cycles: list[list[str]] = []
    for start in switches:
        path: dict[str, None] = {}
        stack = [(start, iter(switches[start].children))] if start not in done else []
        if stack:
            path[start] = None
        while stack:
            name, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                path.pop(name)
                done.add(name)
            elif child in path:
                walked = list(path)
                cycles.append(walked[walked.index(child) :])
            elif child not in done:
                path[child] = None
                stack.append((child, iter(switches[child].children)))
    return cycles


def _parents(switches: Mapping[str, Switch]) -> dict[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for name, switch in switches.items():
        for child in switch.children:
            parents.setdefault(child, []).append(name)
    return parents


def _shared_nodes(switches: dict[str, Switch], notes: Notes) -> bool:
    """Some nodes are under two switches that look like rails of one unit; those under unlike switches are errors."""
    holders: dict[str, list[str]] = {}
    for name, switch in switches.items():
        for node in switch.nodes:
            holders.setdefault(node, []).append(name)
    common: dict[tuple[str, str], list[str]] = {}
    for node, names in holders.items():
        for other in names[1:]:
            common.setdefault((names[0], other), []).append(node)
    alike = False
    for (first, second), nodes in common.items():
        one, two = switches[first], switches[second]
        if _related(first, second, switches) or 4 * len(nodes) >= 3 * min(len(one.nodes), len(two.nodes)):
            alike = True
            continue
        notes.error(
            f"{examples(nodes)} {'is' if len(nodes) == 1 else 'are'} in {first} "
            f"({_spot(one.where)}) and in {second} ({_spot(two.where)})",
            two.where,
            "a node belongs to one of them",
        )
        _drop(switches, (first, second), frozenset(nodes))
    return alike


def _related(first: str, second: str, switches: Mapping[str, Switch]) -> bool:
    return second in switches[first].children or first in switches[second].children


def _drop(switches: dict[str, Switch], names: Iterable[str], nodes: frozenset[str]) -> None:
    for name in names:
        switch = switches[name]
        switches[name] = replace(switch, nodes=tuple(node for node in switch.nodes if node not in nodes))


def _without_repeats(switches: Mapping[str, Switch]) -> dict[str, Switch]:
    return {name: replace(switch, nodes=tuple(dict.fromkeys(switch.nodes))) for name, switch in switches.items()}


def _heights(switches: Mapping[str, Switch]) -> dict[str, int]:
    """1 for a switch without children, otherwise one above the highest of them."""
    waiting = {name: len(switch.children) for name, switch in switches.items()}
    parents = _parents(switches)
    heights = {name: 1 + bool(switch.children) for name, switch in switches.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    while ready:
        name = ready.pop()
        for parent in parents.get(name, ()):
            heights[parent] = max(heights[parent], heights[name] + 1)
            waiting[parent] -= 1
            if waiting[parent] == 0:
                ready.append(parent)
    return heights


def _fabric(switches: Mapping[str, Switch]) -> Fabric:
    fabric = Fabric()
    for name, switch in switches.items():
        for node in switch.nodes:
            fabric.attach(node, name)
        for child in switch.children:
            fabric.link(name, child)
    return fabric
