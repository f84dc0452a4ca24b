"""The best place for a whole group that has no member bound yet.

Level by level from a single node upwards: the first level with a domain that holds the whole group is the lowest
`highestTier` there is. Among the domains of that level `cost` decides, then the name. Domains are indexed by free
slots, so a level costs what is looked at, not the size of the cluster.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from lws_volcano.placement.cost import INFINITE
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.pack import choose, coverage, fewest, led_coverage
from lws_volcano.placement.ranks import by_rank
from lws_volcano.placement.room import Pair
from lws_volcano.placement.spread import Load, Seats, Spread, Units, take_nodes
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["FEW", "Found", "Search"]

FEW: Final = 8
"""Most candidate domains above the lowest level that are offered: each costs a count of the tree below it."""


@dataclass(frozen=True, slots=True)
class Found:
    """One placement of a whole group.

    Attributes
    ----------
    domain
        The domain it was looked for in; for a group on one node the lowest domain above the node.
    places
        Place by rank.
    exact
        The search ran to its end: nothing better in this order exists.
    """

    domain: int
    places: tuple[int, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Candidate:
    domain: int
    spread: Spread | None = None
    place: int = -1


class Search:
    """Placements of one demand.

    Parameters
    ----------
    tally : Tally
        Free slots for the demand's shapes.
    demand : Demand
        The group.
    within : int
        Look only inside this domain.
    alone_at : int, optional
        Every sub-group has a domain of this level to itself.
    few : int
        So many candidate domains are wanted.
    """

    def __init__(
        self,
        tally: Tally,
        demand: Demand,
        within: int = ACROSS,
        alone_at: int | None = None,
        *,
        few: int = FEW,
    ) -> None:
        self.tally, self.forest, self.demand, self.within = tally, tally.forest, demand, within
        self.alone_at, self.few = alone_at, min(few, FEW)
        alike = demand.alike and demand.split is None
        self.load = Load(demand.size, leader=False) if alike else Load(demand.workers, leader=True)

    def best(self, top: int) -> Found | None:
        """Best placement at levels up to `top`, None when the group fits in no domain of theirs."""
        return next(self.ranked(top), None)

    def ranked(self, top: int) -> Iterator[Found]:
        """All placements of the lowest level where there is one, one a domain, best first."""
        for level in range(-1 if self.alone_at is None else self.alone_at + 1, top + 1):
            candidates = self._level(level)
            first = next(candidates, None)
            if first is not None:
                yield self._found(first)
                yield from map(self._found, candidates)
                return

    def placed_in(self, domain: int) -> Found | None:
        """The best placement in a domain of which it is known that there is room; None when it turns out not to fit."""
        level = self.forest.level_of[domain]
        if level == 0:
            return self._found(_Candidate(domain))
        spreads = (spread for spread in self._spreads(level) if spread.cost(domain) < INFINITE)
        spread = next(spreads, None)
        return None if spread is None else self._found(_Candidate(domain, spread))

    def anywhere(self) -> Found | None:
        """Best placement on one node without a domain, over several trees, or over whatever is left."""
        alone = self._one_loose_node()
        if alone is not None:
            return self._found(_Candidate(ACROSS, place=alone))
        for loose in (False, True):
            for spread in self._spreads(len(self.forest.levels), loose=loose):
                if spread.cost(ACROSS) < INFINITE:
                    return self._found(_Candidate(ACROSS, spread))
        return None

    def _one_loose_node(self) -> int | None:
        """The fullest node without a domain that takes the whole group."""
        if self.alone_at is not None:
            return None
        fitting = [(pair[0], *nodes[0]) for pair, nodes in self.tally.loose.items() if pair[1] >= self.demand.workers]
        return min(fitting)[-1] if fitting else None

    def _found(self, candidate: _Candidate) -> Found:
        if candidate.place >= 0:
            return Found(candidate.domain, (candidate.place,) * self.demand.size)
        spread = candidate.spread
        if spread is None:
            return Found(candidate.domain, tuple(by_rank(self.forest, self._pack(candidate.domain))))
        seats = spread.seats(candidate.domain)
        return Found(candidate.domain, tuple(by_rank(self.forest, seats)), spread.exact)

    def _level(self, level: int) -> Iterator[_Candidate]:
        if level < 0:
            return self._single_nodes()
        return self._lowest() if level == 0 else self._higher(level)

    # --- one node

    def _single_nodes(self) -> Iterator[_Candidate]:
        """One node of each domain that has one for the whole group: fullest domain first, then the fullest node."""
        workers, tally = self.demand.workers, self.tally
        if max((tally.best[root] for root in self.forest.roots), default=-1) < workers:
            return
        low = (
            (tally.free[domain], self._tightest(domain), self.forest.domains[domain].name, domain, -1)
            for domain in tally.at_least(0, workers)
            if tally.best[domain] >= workers
        )
        by_room = heapq.merge(low, self._alone(), key=itemgetter(0))
        for _, equally_full in groupby(by_room, key=itemgetter(0)):
            for *_, domain, place in sorted(equally_full):
                if self.forest.inside(domain, self.within):
                    yield _Candidate(domain, place=place if place >= 0 else self._fullest_node(domain))

    def _alone(self) -> list[tuple[int, int, str, int, int]]:
        """Nodes above the lowest level that take the whole group: each is alone in its missing lower domain."""
        forest, pairs = self.forest, self.tally.pairs
        fitting = sorted(
            (pairs[place][0], forest.domains[forest.home(place)].name, forest.names[place], place)
            for place in forest.high
            if pairs[place][1] >= self.demand.workers
        )
        return [(free, free, domain, forest.home(place), place) for free, domain, _, place in fitting]

    def _tightest(self, domain: int) -> int:
        """Worker slots of the fullest node that takes the whole group."""
        return min(pair[0] for pair in self.tally.classes[domain] if pair[1] >= self.demand.workers)

    def _fullest_node(self, domain: int) -> int:
        pairs, names = self.tally.pairs, self.forest.names
        fitting = (p for p in self.forest.attached[domain] if pairs[p][1] >= self.demand.workers)
        return min(fitting, key=lambda place: (pairs[place][0], names[place]))

    # --- the lowest level: every two nodes of a domain are equally near

    def _lowest(self) -> Iterator[_Candidate]:
        """Fullest first; of equally full ones those that need fewest nodes, then by name."""
        tied: list[int] = []
        for domain in self._fitting(0):
            if tied and self.tally.free[domain] != self.tally.free[tied[0]]:
                yield from self._by_nodes(tied)
                tied = []
            tied.append(domain)
        yield from self._by_nodes(tied)

    def _fitting(self, level: int) -> Iterator[int]:
        workers, tally = self.demand.workers, self.tally
        for domain in tally.at_least(level, workers):
            if tally.fits(domain, workers) and self.forest.inside(domain, self.within):
                yield domain

    def _by_nodes(self, tied: list[int]) -> Iterator[_Candidate]:
        if len(tied) > 1:
            known: dict[frozenset[tuple[Pair, int]], int] = {}
            tied = sorted(tied, key=lambda domain: self._nodes_needed(domain, known))
        return map(_Candidate, tied)

    def _nodes_needed(self, domain: int, known: dict[frozenset[tuple[Pair, int]], int]) -> int:
        classes = self.tally.classes[domain]
        key = frozenset(classes.items())
        if key not in known:
            workers, leader = self.load
            covered = led_coverage(classes, workers + 1) if leader else coverage(classes, workers)
            known[key] = fewest(covered, workers) or 0
        return known[key]

    def _pack(self, domain: int) -> list[Seats]:
        shares = choose(self.tally.classes[domain], self.load.workers, leader=self.load.leader)
        places = self.forest.attached[domain]
        return take_nodes(self.tally, {place: self.tally.pairs[place] for place in places}, shares)

    # --- higher levels: the tree below counts

    def _higher(self, level: int) -> Iterator[_Candidate]:
        fitting = list(self._fitting(level))
        for spread in self._spreads(level) if fitting else ():
            domains = self._by_cost(spread, fitting, level)
            if domains:
                yield from (_Candidate(domain, spread) for domain in domains)
                return

    def _by_cost(self, spread: Spread, fitting: list[int], level: int) -> list[int]:
        """Domains by cost; those that can't be among the best few any more are left out."""
        bounds = [(self._bound(spread, domain, level), self.forest.domains[domain].name, domain) for domain in fitting]
        costs: list[tuple[int, str, int]] = []
        for bound, name, domain in sorted(bounds):
            if len(costs) >= self.few and bound > min(costs)[0]:
                break
            cost = spread.cost(domain)
            if cost < INFINITE:
                costs.append((cost, name, domain))
        return [domain for _, _, domain in sorted(costs)[: self.few]]

    def _bound(self, spread: Spread, domain: int, level: int) -> int:
        """No placement in the domain costs less; over the lowest two levels its own free slots count too."""
        parts = self._parts_at_least(domain) * spread.costs.domain[level - 1]
        return parts + (self.tally.free[domain] * spread.costs.slot[level] if level == 1 else 0)

    def _parts_at_least(self, domain: int) -> int:
        """No placement uses fewer parts (child domains, nodes straight in it) than this."""
        free = [self.tally.free[child] for child in self.forest.children[domain]]
        free += [self.tally.pairs[place][0] for place in self.forest.attached[domain]]
        left, parts = self.demand.workers, 0
        for most in sorted(free, reverse=True):
            if left <= 0:
                break
            left -= most
            parts += 1
        return parts

    def _spreads(self, level: int, *, loose: bool = False) -> Iterator[Spread]:
        """Sub-groups whole at the lowest level that allows it, or as asked; without sub-groups just the pods."""
        sub = self.demand.split
        if sub is None:
            yield Spread(self.tally, self.load, loose=loose)
            return
        fixed = self._sub_group_level()
        for whole in range(level) if fixed is None else [fixed] if fixed < level else []:
            first = sub.first if sub.leader_inside else 0
            count = sub.count - 1 if sub.leader_inside else sub.count
            units = Units(whole, sub.size, first, alone=self.alone_at is not None)
            yield Spread(self.tally, Load(count, leader=True), units, loose=loose)
        if self.alone_at is None and (fixed is None or fixed >= level):
            yield Spread(self.tally, self.load, loose=loose)

    def _sub_group_level(self) -> int | None:
        """Level of the domains that sub-groups must be whole in, None where the lowest possible is wanted."""
        tier = self.demand.rules.sub_group_tier
        if self.alone_at is not None or tier is None:
            return self.alone_at
        return self.forest.allowed_level(tier)
