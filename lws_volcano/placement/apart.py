"""Scope `workers`: the workers keep to the constraint, the leader need not.

Only asked when the whole group fits in no allowed domain. The workers take an allowed domain, the leader the nearest
node outside of it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lws_volcano.placement.cost import INFINITE
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.ranks import nearness
from lws_volcano.placement.search import Found
from lws_volcano.placement.spread import Load, Spread
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["leader_apart"]


class _Camp(NamedTuple):
    """Where the workers may be: a domain, or one node that is attached above the tier and so alone below it."""

    domain: int
    place: int = -1

    def holds(self, forest: Forest, place: int) -> bool:
        return place == self.place if self.place >= 0 else forest.holds(self.domain, place)

    def above(self, forest: Forest) -> tuple[int, ...]:
        """Domains around it, upwards."""
        return forest.chain(self.place) if self.place >= 0 else forest.above[self.domain][1:]


def leader_apart(tally: Tally, demand: Demand, top: int) -> Found | None:
    """Workers within a level up to `top`, the leader wherever it is nearest; None when that is impossible."""
    forest = tally.forest
    spread = Spread(tally, Load(demand.workers, leader=False))
    best: tuple[tuple[int, int, str], _Camp, int] | None = None
    for cost, name, camp in [*_domains(spread, demand.workers, top), *_single_nodes(spread, demand.workers, top)]:
        meeting = _leader_domain(tally, camp)
        if meeting is None:
            continue
        distance = len(forest.levels) if meeting == ACROSS else forest.level_of[meeting]
        if best is None or (distance, cost, name) < best[0]:
            best = (distance, cost, name), camp, meeting
    if best is None:
        return None
    _, camp, meeting = best
    workers = [camp.place] * demand.workers if camp.place >= 0 else _in_order(spread, camp.domain, forest)
    return Found(camp.domain, (_leader_place(tally, camp, meeting), *workers))


def _domains(spread: Spread, workers: int, top: int) -> Iterator[tuple[int, str, _Camp]]:
    tally, forest = spread.tally, spread.tally.forest
    for level in range(top + 1):
        for domain in tally.at_least(level, workers):
            cost = spread.cost(domain)
            if cost < INFINITE:
                yield cost + level * spread.costs.domain[-1], forest.domains[domain].name, _Camp(domain)


def _single_nodes(spread: Spread, workers: int, top: int) -> Iterator[tuple[int, str, _Camp]]:
    """Nodes straight in a domain above the level that take all the workers."""
    tally, forest = spread.tally, spread.tally.forest
    for place in forest.high:
        home, free = forest.home(place), tally.pairs[place][0]
        if forest.level_of[home] > top and free >= workers:
            cost = spread.costs.edge(free, 0, forest.level_of[home]) + spread.costs.node
            yield cost, forest.names[place], _Camp(home, place)


def _in_order(spread: Spread, domain: int, forest: Forest) -> list[int]:
    seats = sorted(spread.seats(domain))
    order = sorted(seats, key=lambda seat: nearness(forest, seats[0].place, seat.place))
    return [seat.place for seat in order for _ in range(seat.workers)]


def _leader_domain(tally: Tally, camp: _Camp) -> int | None:
    """Lowest domain around the workers with a node for the leader apart from them; `ACROSS` for any other node."""
    own = tally.pairs[camp.place][1] >= 0 if camp.place >= 0 else _leader_nodes(tally, camp.domain)
    for above in camp.above(tally.forest):
        if _leader_nodes(tally, above) > own:
            return above
    return ACROSS if _elsewhere(tally, camp, ACROSS) else None


def _leader_nodes(tally: Tally, domain: int) -> int:
    return sum(count for (_, beside), count in tally.classes[domain].items() if beside >= 0)


def _elsewhere(tally: Tally, camp: _Camp, meeting: int) -> list[int]:
    """Places for the leader apart from the workers, in `meeting`."""
    forest = tally.forest
    if meeting == ACROSS:
        places = range(len(tally.pairs))
    else:
        places = range(forest.domains[meeting].lo, forest.domains[meeting].hi)
    return [place for place in places if tally.pairs[place][1] >= 0 and not camp.holds(forest, place)]


def _leader_place(tally: Tally, camp: _Camp, meeting: int) -> int:
    """The fullest domain's fullest node, by name; nodes without a domain last."""
    forest = tally.forest

    def key(place: int) -> tuple[bool, int, int, str]:
        home = forest.home(place)
        free = tally.free[home] if home != ACROSS else 0
        return forest.loose(place), free, tally.pairs[place][0], forest.names[place]

    return min(_elsewhere(tally, camp, meeting), key=key)
