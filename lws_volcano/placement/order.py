"""The order of nodes that neighbouring ranks follow wherever their group lands.

Every domain of the tier where a group may land is ordered by itself, depth-first, so that near nodes are next to each
other. A node's *level* falls along its domain: the first node has the highest. The scheduler scores from 0 to 100, so
there are at most `LEVELS` levels; in a larger domain neighbours share one.

Where nothing keeps a group inside one domain (no network topology asked for), equal levels in several domains would
scatter it; there the domains are strung together, best first, into one order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.api.names import PLACE_LABEL
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.topology.model import Topology

__all__ = ["LEVELS", "Order", "levels_of", "order_for", "place_labels"]

LEVELS: Final = 100
"""Most levels in a domain."""
_NODES: Final = 512
"""Most nodes in an order that is written as host lists: about 16 KB a pod."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which domains' nodes are ordered.

    Attributes
    ----------
    tier
        Tier number of the domains: where the group is expected to land.
    domains
        Their names, best first.
    strung
        One order over all of them instead of one for each.
    """

    tier: int
    domains: tuple[str, ...]
    strung: bool = False

    def to_json(self) -> dict[str, Any]:
        """For the annotation."""
        entry: dict[str, Any] = {"tier": self.tier, "domains": list(self.domains)}
        return {**entry, "strung": True} if self.strung else entry

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Order":
        """From the annotation."""
        return cls(int(raw["tier"]), tuple(map(str, raw["domains"])), strung=raw.get("strung") is True)


def order_for(plan: GroupPlan, capacity: Capacity) -> Order | None:
    """Where the group of a plan may land, the domains with room now first; None without a topology."""
    forest = capacity.forest
    if not forest.levels:
        return None
    level, strung = _landing_level(plan, capacity), plan.demand.rules.mode == "none"
    room = LEVELS if strung else _NODES
    chosen: list[str] = []
    for domain in _able(plan, capacity, level):
        room -= len(forest.domains[domain])
        if chosen and room < 0:
            break
        chosen.append(forest.domains[domain].name)
    return Order(forest.levels[level], tuple(chosen), strung=strung)


def _able(plan: GroupPlan, capacity: Capacity, level: int) -> list[int]:
    """Domains of a level that could hold the group if they were empty: alternatives first, then the emptiest."""
    forest = capacity.forest
    tally = capacity.tally(plan.demand.leader, plan.demand.worker)
    able = [d for _, _, d in tally.order[level] if tally.ceiling[d] >= plan.demand.workers]
    first = {one.domain: rank for rank, one in enumerate(plan.alternatives)}
    last = len(first)
    return sorted(able, key=lambda d: (first.get(name := forest.domains[d].name, last), -tally.free[d], name))


def _landing_level(plan: GroupPlan, capacity: Capacity) -> int:
    """Level of the planned domain; without a plan the lowest where a domain could hold the group when empty."""
    forest, demand = capacity.forest, plan.demand
    if plan.domain is not None:
        return forest.levels.index(plan.domain.tier)
    top = forest.allowed_level(demand.rules.highest_tier if demand.rules.limited else None)
    if plan.feasible:
        return max(top, 0)
    tally = capacity.tally(demand.leader, demand.worker)
    able = (level for level, order in enumerate(tally.order) if any(tally.ceiling[d] >= demand.size for *_, d in order))
    return max(min(next(able, top), top), 0)


def levels_of(topology: Topology, order: Order) -> dict[str, int]:
    """Node -> level, for the nodes of the ordered domains that this topology has."""
    members = [topology.members(topology.index_of[name]) for name in order.domains if name in topology.index_of]
    if order.strung:
        members = [tuple(dict.fromkeys(node for nodes in members for node in nodes))]
    return {node: level for nodes in members for node, level in _levels(nodes)}


def _levels(nodes: Sequence[str]) -> list[tuple[str, int]]:
    count = len(nodes)
    if count <= LEVELS:
        return [(node, count - 1 - index) for index, node in enumerate(nodes)]
    return [(node, (count - 1 - index) * LEVELS // count) for index, node in enumerate(nodes)]


def place_labels(topology: Topology) -> dict[str, dict[str, str]]:
    """Node -> labels that hold its level in the domain of each tier, for orders written over labels."""
    labels: dict[str, dict[str, str]] = {node: {} for node in topology.nodes}
    for index, domain in enumerate(topology.domains):
        for node, level in _levels(topology.members(index)):
            labels[node][f"{PLACE_LABEL}{domain.tier}"] = str(level)
    return labels
