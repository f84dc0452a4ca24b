"""A group that lost a few members: every choice of nodes for them is tried, so the best is found.

The others stay. Widening from the lowest domain around them, the first domain in which the lost fit decides the highest
tier; in it `cost` ranks the choices (domains that the others use already cost nothing), then the ring over all ranks,
then names. Nodes and domains that no rule tells apart are tried once: of equal nodes of a domain, and of the domains
below one parent, as many of the fullest as there are lost members.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations
from math import comb
from typing import Final

from lws_volcano.placement.cost import Costs
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.pack import choose
from lws_volcano.placement.ring import Ring
from lws_volcano.placement.room import Pair
from lws_volcano.placement.search import Found
from lws_volcano.placement.spread import Load
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["Refill", "TooManyChoicesError"]

_LOST: Final = 4
"""Lost members of which every order is tried."""
_CHOICES: Final = 4000
"""Choices that are tried in one domain, about 10 ms."""


_Cell = tuple[int, int]
"""(level, domain), or the complement of a place where a node stands alone."""


class TooManyChoicesError(Exception):
    """There are more choices than are tried."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """Places of the lost members: the leader's (-1: it is not lost), and the workers' without their order."""

    leader: int
    workers: tuple[int, ...]


class Refill:
    """The best places for the lost members of one group without sub-groups.

    Parameters
    ----------
    tally : Tally
        Free slots; what the bound members take is taken in it.
    demand : Demand
        The group, with at least one bound member.
    ring : Ring
        Costs of hops.
    """

    def __init__(self, tally: Tally, demand: Demand, ring: Ring) -> None:
        self._tally, self._forest, self._demand, self._ring = tally, tally.forest, demand, ring
        self._at = {rank: self._forest.place(node) for rank, node in demand.bound.items()}
        self._lost = demand.missing()
        self._ranks = tuple(rank for rank in self._lost if rank)
        self._cells = _Cells(tally)
        self._used = {cell for place in self._at.values() for cell in self._cells.of(place)}
        touched = {rank for lost in self._lost for rank in (lost, (lost - 1) % demand.size)}
        self._hops = [(rank, (rank + 1) % demand.size) for rank in sorted(touched)]

    def best(self, top: int, *, hard: bool) -> Found | None:
        """Places of all ranks; None when the lost do not fit.

        Parameters
        ----------
        top : int
            Highest level allowed under a hard rule.
        hard : bool
            Whether there is one.

        Raises
        ------
        TooManyChoicesError
            More than can be tried.
        """
        if len(self._lost) > _LOST:
            raise TooManyChoicesError
        for candidates in self._widening(top if hard and self._demand.rules.scope == "group" else None):
            allowed = [choice for choice in self._choices(candidates) if not hard or self._keeps(choice, top)]
            if allowed:
                places = self._cheapest(allowed)
                return Found(self._forest.common(list(places)), places)
        return None

    # --- where

    def _widening(self, top: int | None) -> Iterator[list[int]]:
        """Candidate places: the node that the others share, the lowest domain around them, and so on up to `top`."""
        anchors = set(self._at.values())
        base = self._forest.common(list(anchors)) if len(anchors) > 1 else self._forest.home(next(iter(anchors)))
        if len(anchors) == 1:
            yield list(anchors)
        for domain in self._forest.above[base] if base != ACROSS else ():
            if top is None or self._forest.level_of[domain] <= top:
                yield self._candidates(domain)
        if top is None:
            yield self._candidates(ACROSS)

    def _candidates(self, domain: int) -> list[int]:
        """Places in a domain, equal ones left out."""
        forest, found = self._forest, {place for place in self._at.values() if self._in(domain, place)}
        span = range(len(forest.domains)) if domain == ACROSS else range(domain, forest.end[domain])
        fresh: dict[int, list[int]] = {}
        for index in span:
            if forest.level_of[index] or (0, index) in self._used:
                found.update(self._alike(forest.attached[index]))
            elif self._tally.classes[index]:
                fresh.setdefault(forest.parent[index], []).append(index)
        for siblings in fresh.values():
            for index in self._fullest(siblings):
                found.update(self._alike(forest.attached[index]))
        if domain == ACROSS:
            for entries in self._tally.loose.values():
                found.update(place for _, place in entries[: len(self._lost)])
        return sorted(found, key=forest.names.__getitem__)

    def _in(self, domain: int, place: int) -> bool:
        return domain == ACROSS or self._forest.holds(domain, place)

    def _alike(self, places: Iterable[int]) -> list[int]:
        """Of nodes with equal room in one domain as many as there are lost members, by name."""
        by_class: dict[Pair, list[int]] = {}
        for place in places:
            pair = self._tally.pairs[place]
            if pair[0] > 0 or pair[1] >= 0:
                by_class.setdefault(pair, []).append(place)
        names = self._forest.names
        return [p for equal in by_class.values() for p in sorted(equal, key=names.__getitem__)[: len(self._lost)]]

    def _fullest(self, siblings: Sequence[int]) -> set[int]:
        """Unused domains below one parent that may be best for some number of the lost."""
        tally, found = self._tally, set[int]()
        for leader in {False, 0 in self._lost}:
            for workers in range(0 if leader else 1, len(self._ranks) + 1):
                able = [d for d in siblings if (tally.fits(d, workers) if leader else tally.free[d] >= workers)]
                found.update(self._first(able, Load(workers, leader)))
        return found

    def _first(self, able: list[int], load: Load) -> list[int]:
        """The fullest, of equally full ones those that need fewest nodes, then by name."""
        free, count = self._tally.free, len(self._lost)
        able.sort(key=free.__getitem__)
        able = [domain for domain in able if free[domain] <= free[able[:count][-1]]]

        def order(domain: int) -> tuple[int, int, str]:
            nodes = len(choose(self._tally.classes[domain], load.workers, leader=load.leader))
            return free[domain], nodes, self._forest.domains[domain].name

        return sorted(able, key=order)[:count]

    # --- which of them

    def _choices(self, candidates: Sequence[int]) -> Iterator[_Choice]:
        """Every choice with room for all."""
        pairs = self._tally.pairs
        workers = [place for place in candidates if pairs[place][0] > 0]
        leaders = [place for place in candidates if pairs[place][1] >= 0] if 0 in self._lost else [-1]
        count = len(self._ranks)
        if len(leaders) * comb(max(len(workers) + count - 1, 0), count) > _CHOICES:
            raise TooManyChoicesError
        for leader in leaders:
            for chosen in combinations_with_replacement(workers, count):
                if all(chosen.count(p) <= pairs[p][1 if p == leader else 0] for p in set(chosen)):
                    yield _Choice(leader, chosen)

    def _keeps(self, choice: _Choice, top: int) -> bool:
        """The hard rule holds, for the leader too unless the scope is the workers."""
        apart = self._demand.rules.scope == "workers"
        places = {*choice.workers, *(place for rank, place in self._at.items() if rank or not apart)}
        if choice.leader >= 0 and not apart:
            places.add(choice.leader)
        if len(places) <= 1:
            return True
        common = self._forest.common(list(places))
        return common != ACROSS and self._forest.level_of[common] <= top

    def _cheapest(self, choices: Sequence[_Choice]) -> tuple[int, ...]:
        """Places by rank of the choice of least cost, of equal ones that of the best ring, then by name."""
        costs = [self._cells.cost((choice.leader, *choice.workers), self._used) for choice in choices]
        least = min(costs)
        tied = (choice for choice, cost in zip(choices, costs, strict=True) if cost == least)
        _, _, places = min(ordered for choice in tied for ordered in self._ordered(choice))
        return places

    def _ordered(self, choice: _Choice) -> Iterator[tuple[int, list[str], tuple[int, ...]]]:
        """Cost of the hops that the lost take part in, names, and places by rank, for every order of the workers."""
        for order in sorted(set(permutations(choice.workers))):
            at = {**self._at, **dict(zip(self._ranks, order, strict=True))}
            if choice.leader >= 0:
                at[0] = choice.leader
            cost = sum(self._ring.hop(at[left], at[right]) for left, right in self._hops)
            yield cost, [self._forest.names[at[r]] for r in self._lost], tuple(at[r] for r in range(self._demand.size))


class _Cells:
    """The domains above a place, one a level; where a level is missing, what lies below stands alone in it."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._forest = tally, tally.forest
        self._costs = Costs(len(self._forest.levels))
        self._known: dict[int, dict[_Cell, int]] = {}

    def of(self, place: int) -> dict[_Cell, int]:
        """Cells above a place, and what using each costs."""
        if place not in self._known:
            self._known[place] = dict(self._above(place))
        return self._known[place]

    def cost(self, places: Iterable[int], used: set[_Cell]) -> int:
        """Cost of the cells that are not in use."""
        new: dict[_Cell, int] = {}
        for place in places:
            if place >= 0:
                new |= self.of(place)
        return sum(cost for cell, cost in new.items() if cell not in used)

    def _above(self, place: int) -> Iterator[tuple[_Cell, int]]:
        domains = {self._forest.level_of[domain]: domain for domain in self._forest.chain(place)}
        below, free = ~place, self._tally.pairs[place][0]
        for level in range(len(self._forest.levels)):
            if level in domains:
                below = domains[level]
                free = self._tally.free[below]
            yield (level, below), self._costs.domain[level] + free * self._costs.slot[level]
