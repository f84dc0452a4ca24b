"""Scope `workers`: the workers keep to the constraint, the leader need not.

Only asked when the whole group fits in no allowed domain. The workers are then one sub-group of which the leader is no
member: whole within the tier, the leader as near as it can be.
"""

from dataclasses import replace

from lws_volcano.placement.cost import INFINITE
from lws_volcano.placement.demand import Demand, SubGroups
from lws_volcano.placement.ranks import by_rank
from lws_volcano.placement.search import Found, Search
from lws_volcano.placement.spread import Load, Seats, Spread, Units
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["leader_apart"]


def leader_apart(tally: Tally, demand: Demand, top: int) -> Found | None:
    """Workers within a level up to `top`, the leader wherever it is nearest; None when that is impossible."""
    levels = tally.forest.levels
    if not _roomy(tally, demand.workers, top):
        return None
    workers = SubGroups(demand.workers, 1, demand.workers, leader_inside=False)
    tier = levels[top] if top >= 0 else levels[0] - 1
    rules = replace(demand.rules, sub_groups=workers, sub_group_tier=tier)
    found = Search(tally, replace(demand, rules=rules)).best(len(levels) - 1)
    return found or _across(tally, Units(top, demand.workers, 0))


def _roomy(tally: Tally, workers: int, top: int) -> bool:
    """Some domain within the tier, or some node above it, has so many free slots."""
    domains = any(True for level in range(top + 1) for _ in tally.at_least(level, workers))
    return domains or any(tally.pairs[place][0] >= workers for place in tally.forest.high)


def _across(tally: Tally, units: Units) -> Found | None:
    """The leader in another tree, else on the fullest node without a domain: workers may not be there."""
    spread = Spread(tally, Load(1, leader=True), units)
    if spread.cost(ACROSS) < INFINITE:
        return Found(ACROSS, tuple(by_rank(tally.forest, spread.seats(ACROSS))), spread.exact)
    spread = Spread(tally, Load(1, leader=False), units)
    able = [(pair[0], *nodes[0]) for pair, nodes in tally.loose.items() if pair[1] >= 0]
    if not able or spread.cost(ACROSS) >= INFINITE:
        return None
    seats = [*spread.seats(ACROSS), Seats(min(able)[-1], 0, leader=True)]
    return Found(ACROSS, tuple(by_rank(tally.forest, seats)), spread.exact)
