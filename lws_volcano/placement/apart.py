"""Scope `workers`: the workers keep to the constraint, the leader need not.

Only asked when the whole group fits in no allowed domain. The workers take an allowed domain, the leader the nearest
node outside of it.
"""

from lws_volcano.placement.cost import INFINITE
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.ranks import nearness
from lws_volcano.placement.search import Found
from lws_volcano.placement.spread import Load, Spread
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["leader_apart"]


def leader_apart(tally: Tally, demand: Demand, top: int) -> Found | None:
    """Workers in one domain of a level up to `top`, the leader wherever it is nearest; None when that is impossible."""
    forest = tally.forest
    spread = Spread(tally, Load(demand.workers, leader=False))
    best: tuple[tuple[int, int, str], int, int] | None = None
    for level in range(top + 1):
        for domain in tally.at_least(level, demand.workers):
            meeting = _leader_domain(tally, domain)
            if meeting is None:
                continue
            distance = len(forest.levels) if meeting == ACROSS else forest.level_of[meeting]
            cost = spread.cost(domain)
            key = (distance, cost + level * spread.costs.domain[-1], forest.domains[domain].name)
            if cost < INFINITE and (best is None or key < best[0]):
                best = key, domain, meeting
    if best is None:
        return None
    _, domain, meeting = best
    return Found(domain, (_leader_place(tally, domain, meeting), *_in_order(spread, domain, forest)))


def _in_order(spread: Spread, domain: int, forest: Forest) -> list[int]:
    seats = sorted(spread.seats(domain))
    order = sorted(seats, key=lambda seat: nearness(forest, seats[0].place, seat.place))
    return [seat.place for seat in order for _ in range(seat.workers)]


def _leader_domain(tally: Tally, domain: int) -> int | None:
    """Lowest domain around this one with a node for the leader outside of it; `ACROSS` for any other node."""
    inside = _leader_nodes(tally, domain)
    for above in tally.forest.above[domain][1:]:
        if _leader_nodes(tally, above) > inside:
            return above
    return ACROSS if _elsewhere(tally, domain, ACROSS) else None


def _leader_nodes(tally: Tally, domain: int) -> int:
    return sum(count for (_, beside), count in tally.classes[domain].items() if beside >= 0)


def _elsewhere(tally: Tally, domain: int, meeting: int) -> list[int]:
    """Places for the leader outside `domain`, in `meeting`."""
    forest = tally.forest
    if meeting == ACROSS:
        places = range(len(tally.pairs))
    else:
        places = range(forest.domains[meeting].lo, forest.domains[meeting].hi)
    return [place for place in places if tally.pairs[place][1] >= 0 and not forest.holds(domain, place)]


def _leader_place(tally: Tally, domain: int, meeting: int) -> int:
    """The fullest domain's fullest node, by name; nodes without a domain last."""
    forest = tally.forest

    def key(place: int) -> tuple[bool, int, int, str]:
        home = forest.home(place)
        free = tally.free[home] if home != ACROSS else 0
        return forest.loose(place), free, tally.pairs[place][0], forest.names[place]

    return min(_elsewhere(tally, domain, meeting), key=key)
