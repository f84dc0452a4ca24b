"""The order of nodes that ranks follow when no plan can be had: the same terms on every pod of the group.

Nodes are ordered inside each domain where the group may land, depth-first, so that near nodes are next to each other;
the k-th node of every such domain has the k-th weight. Weights fall by a constant factor: the scheduler scales them to
the best node that is left, so a linear fall would end in steps too small to count. It is a fallback only: with room
scattered over a domain an order takes the first free nodes, and so more racks than a plan needs (docs/hints.md).

Where nothing keeps a group inside one domain (no network topology asked for), equal places in several domains would
scatter it; there one domain is ordered.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.window import Weighted
from lws_volcano.topology.model import Topology

__all__ = ["ORDERED_NODES", "Order", "order_for", "order_terms"]

ORDERED_NODES: Final = 256
"""Most nodes in an order: about 5 KB a pod."""
_TOP: Final = 100
_BOTTOM: Final = 0.01
"""Weight of the last node, as a share of the first one's."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which domains' nodes are ordered.

    Attributes
    ----------
    tier
        Tier number of the domains: where the group is expected to land.
    domains
        Their names, best first.
    """

    tier: int
    domains: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For the annotation."""
        return {"tier": self.tier, "domains": list(self.domains)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Order":
        """From the annotation."""
        return cls(int(raw["tier"]), tuple(map(str, raw["domains"])))


def order_for(plan: GroupPlan, capacity: Capacity) -> Order | None:
    """Where the group of a plan may land, the domains with most room first; None without a topology.

    None also when a single such domain has too many nodes to be listed.
    """
    forest = capacity.forest
    if not forest.levels:
        return None
    level, room = _landing_level(plan, capacity), ORDERED_NODES
    chosen: list[str] = []
    for domain in _able(plan, capacity, level):
        room -= len(forest.domains[domain])
        if room < 0 or (chosen and plan.demand.rules.mode == "none"):
            break
        chosen.append(forest.domains[domain].name)
    return Order(forest.levels[level], tuple(chosen)) if chosen else None


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


def order_terms(topology: Topology, order: Order) -> list[Weighted]:
    """Terms over the nodes of the ordered domains that this topology has, heaviest first; each node is in one."""
    members = [topology.members(topology.index_of[name]) for name in order.domains if name in topology.index_of]
    longest = max(map(len, members), default=0)
    fall = _BOTTOM ** (1 / max(longest - 1, 1))
    terms: dict[int, list[str]] = {}
    for place in range(longest):
        weight = max(1, round(_TOP * fall**place))
        terms.setdefault(weight, []).extend(nodes[place] for nodes in members if place < len(nodes))
    return [(weight, tuple(nodes)) for weight, nodes in terms.items()]
