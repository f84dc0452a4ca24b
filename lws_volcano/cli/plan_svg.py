"""A plan as a picture: the cluster as racks, groups in colours, ranks as numbers in the nodes.

One look says whether a group is split. It is the picture of `topology show` with the nodes painted over; without a
topology the nodes stand in one box.
"""

import colorsys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from lws_volcano.mapping.whole_plan import PlannedGroup, WholePlan
from lws_volcano.topology.model import Topology
from lws_volcano.topology.tree_svg import Legend, Mark, tree_svg

__all__ = ["plan_svg"]

_GOLDEN: Final = 0.381966
"""Steps of this part of the circle keep the hues of neighbours far apart, however many groups there are."""
_SHARED: Final = "#fde68a"
_FEW: Final = 3
"""So many groups with one reason are named one by one."""


def plan_svg(plan: WholePlan, topology: Topology | None) -> str:
    """An SVG document."""
    shown = _flat(plan) if topology is None else topology
    placed = [group for group in plan.groups if group.placed is not None and group.placed.feasible]
    colours = {id(group): _colour(number) for number, group in enumerate(placed)}
    ranks: dict[str, list[tuple[PlannedGroup, int]]] = {}
    for group in placed:
        for pod in group.placed.pods if group.placed else ():
            ranks.setdefault(pod.node, []).append((group, pod.rank))
    marks = {node: _mark(node, members, colours) for node, members in ranks.items()}
    legend = [Legend(colours[id(group)], _words(group)) for group in placed]
    legend += [Legend("", line) for line in _reasons(plan.groups)]
    return tree_svg(shown, marks=marks, legend=legend)


def _reasons(groups: Sequence[PlannedGroup]) -> Iterator[str]:
    """Why groups are not placed, those with one reason in one line."""
    named: dict[str, list[str]] = {}
    for group in groups:
        if group.reason:
            named.setdefault(group.reason, []).append(_name(group))
    for reason, names in named.items():
        few = ", ".join(names[:_FEW]) if len(names) <= _FEW else f"{len(names)} groups, {names[0]} to {names[-1]}"
        yield f"{few}: {reason}"


def _mark(node: str, members: Sequence[tuple[PlannedGroup, int]], colours: dict[int, str]) -> Mark:
    owners = {id(group) for group, _ in members}
    fill = colours[id(members[0][0])] if len(owners) == 1 else _SHARED
    label = ",".join(str(rank) for _, rank in members)
    tip = f"{node}: " + ", ".join(f"{_name(group)} rank {rank}" for group, rank in members)
    return Mark(fill, label, tip)


def _flat(plan: WholePlan) -> Topology:
    """Nodes without a topology: none is in a domain."""
    return replace(_EMPTY, unplaced=plan.capacity.node_names())


_EMPTY: Final = Topology(name="nodes", tiers=(), domains=(), nodes=(), domain_of=(), tier_of=())


def _name(group: PlannedGroup) -> str:
    return f"{group.offline.lws.name}-{group.offline.index}"


def _words(group: PlannedGroup) -> str:
    placed = group.placed
    where = f" in {placed.domain.tier_name} {placed.domain.name}" if placed and placed.domain else ""
    return f"{_name(group)}: {len(placed.pods) if placed else 0} pods{where}"


def _colour(number: int) -> str:
    red, green, blue = (round(part * 255) for part in colorsys.hls_to_rgb((0.02 + number * _GOLDEN) % 1.0, 0.72, 0.65))
    return f"#{red:02x}{green:02x}{blue:02x}"
