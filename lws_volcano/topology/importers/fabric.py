"""A network that need be no tree (fat tree, rails, planes, a storage switch) to the tree of its locality units.

From below: nodes that share leaf switches are a unit, units that share the switches above are a unit of the next tier,
and so on until nothing is joined any more (`clusters` is one such step). What was merged, set aside or looked like a
wrong cable is noted, so that a person can check it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.importers.clusters import Clustering, cluster
from lws_volcano.topology.importers.document import Placed
from lws_volcano.topology.importers.notes import Notes

__all__ = ["Fabric", "Units", "locality_tree", "locality_units"]

_MOST_LEVELS: Final = 32
_MOST_SWITCHES: Final = 256
"""Distinct switches that a node may hang on; more is no node, and the pairs of them would cost a lot of time."""
_SHOWN: Final = 20


@dataclass(slots=True)
class Fabric:
    """Which node hangs on which switch, which switches are linked, and with how many Gb/s where that is known."""

    attached: dict[str, set[str]] = field(default_factory=dict)
    links: dict[str, set[str]] = field(default_factory=dict)
    _rates: dict[tuple[str, str], int | None] = field(default_factory=dict)

    def attach(self, node: str, switch: str, rate: int | None = None) -> None:
        """A cable from a node to a switch; a further one between the same two adds to it."""
        self.attached.setdefault(node, set()).add(switch)
        self.links.setdefault(switch, set())
        self._add((node, switch), rate)

    def link(self, one: str, other: str, rate: int | None = None) -> None:
        """All cables between two switches."""
        if one != other:
            self.links.setdefault(one, set()).add(other)
            self.links.setdefault(other, set()).add(one)
            self._add((min(one, other), max(one, other)), rate)

    def rate(self, node: str, switch: str) -> int | None:
        """Of the cables of a node to a switch, 0 without any; None where one of them does not say."""
        return self._rates.get((node, switch)) if switch in self.attached.get(node, ()) else 0

    def trunks(self) -> Iterator[tuple[str, str, int | None]]:
        """Linked switches and the rate of all cables between them; None where one does not say."""
        for one, others in self.links.items():
            for other in others:
                if one < other:
                    yield one, other, self._rates.get((one, other))

    def _add(self, ends: tuple[str, str], rate: int | None) -> None:
        before = self._rates.get(ends, 0)
        self._rates[ends] = None if rate is None or before is None else before + rate


@dataclass(slots=True)
class _Unit:
    name: str
    tier: int
    nodes: tuple[str, ...] = ()
    parent: str | None = None


@dataclass(slots=True)
class _Growth:
    """The forest as far as it has grown: every unit, and the topmost unit of each node and each placed switch."""

    units: dict[str, _Unit] = field(default_factory=dict)
    of_node: dict[str, str] = field(default_factory=dict)
    of_switch: dict[str, str] = field(default_factory=dict)
    holding: AbstractSet[str] = frozenset()
    made_of: dict[str, list[str]] = field(default_factory=dict)
    tier: int = 1

    def plant(self, found: Clustering) -> None:
        """Units of nodes, the first tier."""
        for nodes, switches in zip(found.units, found.switches, strict=True):
            if nodes:
                name = min(switches, key=natural)
                self.units[name] = _Unit(name, 1, tuple(sorted(nodes, key=natural)))
                self.made_of[name] = sorted(switches, key=natural)
                self.of_node.update(dict.fromkeys(nodes, name))
                self.of_switch.update(dict.fromkeys(switches, name))

    def join(self, found: Clustering) -> bool:
        """Units of units, the next tier; false when nothing came of it."""
        fresh = {switch for switches in found.switches for switch in switches} - self.of_switch.keys()
        above: dict[str, str] = {}
        for below, switches in zip(found.units, found.switches, strict=True):
            if len(below) > 1:
                name = self._name(switches, below)
                self.units[name] = _Unit(name, self.tier + 1)
                self.made_of[name] = sorted(switches & fresh, key=natural)
                above.update(dict.fromkeys(below, name))
            elif below:
                name = next(iter(below))
            else:
                continue
            self.of_switch.update((switch, name) for switch in switches if switch in fresh)
        for unit, name in above.items():
            self.units[unit].parent = name
        self.tier += bool(above)
        self.of_node = {node: above.get(unit, unit) for node, unit in self.of_node.items()}
        self.of_switch = {switch: above.get(unit, unit) for switch, unit in self.of_switch.items()}
        return bool(above or fresh)

    def attach(self, late: dict[str, set[str]]) -> None:
        """Nodes straight on switches that have found their place since."""
        for switch in sorted(late.keys() & self.of_switch.keys(), key=natural):
            unit = self.units[self.of_switch[switch]]
            fresh = [node for node in sorted(late.pop(switch), key=natural) if node not in self.of_node]
            unit.nodes = (*unit.nodes, *fresh)
            self.of_node.update(dict.fromkeys(fresh, unit.name))

    def _name(self, switches: Iterable[str], below: Iterable[str]) -> str:
        """First of the switches that no unit is named after, better one without nodes; else made of the units."""
        free = [switch for switch in switches if switch not in self.units]
        if free:
            return min(free, key=lambda switch: (switch in self.holding, natural(switch)))
        return f"{min(below, key=natural)}-tier-{self.tier + 1}"

    def hanging(self, fabric: Fabric, holders: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
        """The units on each switch, for switches not placed yet and for those that reach beyond their own unit."""
        sets: dict[str, frozenset[str]] = {}
        for switch, neighbours in fabric.links.items():
            home = self.of_switch.get(switch)
            units = {self.of_node[node] for node in holders.get(switch, ()) if node in self.of_node}
            units.update(self.of_switch[other] for other in neighbours if other in self.of_switch)
            if home is not None:
                units.add(home)
            if units and (home is None or len(units) > 1):
                sets[switch] = frozenset(units)
        return sets


@dataclass(frozen=True, slots=True)
class Units:
    """The tree: domains, and the switches that are in each of them and in none below it."""

    domains: list[Placed]
    switches: Mapping[str, Sequence[str]]


def locality_tree(fabric: Fabric, notes: Notes) -> list[Placed]:
    """Domains of the fabric, as `locality_units` gives them."""
    return locality_units(fabric, notes).domains


def locality_units(fabric: Fabric, notes: Notes) -> Units:
    """Domains of the fabric, tiers counted from 1.

    Raises
    ------
    TopologyError
        Something that is called a node hangs on more switches than any node does.
    """
    holders = _holders(fabric)
    late = _above_the_leaves(fabric, holders)
    found = cluster({switch: frozenset(nodes) for switch, nodes in holders.items()})
    growth = _Growth(holding=holders.keys())
    growth.plant(found)
    for switch in holders.keys() - growth.of_switch.keys():
        late[switch] = holders[switch] - growth.of_node.keys()
    _say_strays(found, notes)
    _say_aside(holders.keys() - growth.of_switch.keys(), notes)
    for _ in range(_MOST_LEVELS):
        sets = growth.hanging(fabric, holders)
        if not sets or not (growth.join(cluster(sets)) or growth.join(cluster(sets, joining=False))):
            break
        growth.attach(late)
    else:
        notes.warn(f"the fabric goes on above {_MOST_LEVELS} levels; what is above is left out")
    _say_merged(growth, notes)
    placed = [Placed(unit.name, unit.tier, unit.parent, unit.nodes) for unit in growth.units.values()]
    return Units(placed, growth.made_of)


def _holders(fabric: Fabric) -> dict[str, set[str]]:
    """Nodes by switch."""
    busy = [node for node, switches in fabric.attached.items() if len(switches) > _MOST_SWITCHES]
    if busy:
        raise TopologyError(
            f"{examples(busy)} hangs on more than {_MOST_SWITCHES} switches", mend="that is no node, leave it out"
        )
    holders: dict[str, set[str]] = {}
    for node, switches in fabric.attached.items():
        for switch in switches:
            holders.setdefault(switch, set()).add(node)
    return holders


def _above_the_leaves(fabric: Fabric, holders: dict[str, set[str]]) -> dict[str, set[str]]:
    """Take out the switches that are spines with a few nodes of their own (a fabric manager, say); those by switch.

    Such a switch is linked to two or more that hold at least twice as many nodes. Nodes that hang on leaves as well
    stay with those.
    """
    late = {
        switch: nodes
        for switch, nodes in holders.items()
        if sum(len(holders.get(other, ())) >= 2 * len(nodes) for other in fabric.links[switch]) > 1
    }
    for switch in late:
        del holders[switch]
    below = {node for nodes in holders.values() for node in nodes}
    return {switch: nodes - below for switch, nodes in late.items() if nodes - below}


def _say_merged(growth: _Growth, notes: Notes) -> None:
    """How several switches came to be one domain: a line for each, as far as a person reads."""
    merged = {name: switches for name, switches in growth.made_of.items() if len(switches) > 1}
    by_place = sorted(merged, key=lambda name: (growth.units[name].tier, natural(name)))
    for name in by_place[:_SHOWN]:
        switches, tier = merged[name], growth.units[name].tier
        common = "mostly the same nodes" if tier == 1 else f"mostly the same domains of tier {tier - 1}"
        notes.warn(f"{len(switches)} switches hold {common} and are one domain, {name}: {examples(switches, 16)}")
    if len(merged) > _SHOWN:
        notes.warn(f"{len(merged) - _SHOWN} more domains are made of several switches in the same way")


def _say_strays(found: Clustering, notes: Notes) -> None:
    if found.strays:
        strays = sorted(found.strays, key=natural)
        notes.warn(
            f"{examples(strays)} {'hangs' if len(strays) == 1 else 'hang'} on switches of several domains and "
            "count where most of their switches are",
            mend="look at the cables",
        )


def _say_aside(switches: Iterable[str], notes: Notes) -> None:
    aside = sorted(switches, key=natural)
    if aside:
        notes.warn(
            f"{examples(aside)} {'joins' if len(aside) == 1 else 'join'} nodes of several domains and "
            f"{'is' if len(aside) == 1 else 'are'} taken as a higher tier",
            mend="leave storage and management switches out with --ignore",
        )
