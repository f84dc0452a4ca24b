"""A group that lost some members: the best nodes for them, found by branch and bound.

The others stay. Widening from the lowest domain around them, the first domain in which the lost fit decides the highest
tier. In it rank after rank is given a place: first by the cost of the domains that it newly uses (`cost`), then by what
it adds to the ring. Neither ever falls when another rank is placed, so a branch that is no better than the best found
is left. Places that no rule tells apart are tried once (`contenders`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from lws_volcano.placement.cells import Cell, Cells
from lws_volcano.placement.contenders import Contenders
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.region import Region, Regions, alone
from lws_volcano.placement.ring import Ring
from lws_volcano.placement.search import Found
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["LOST", "Refill"]

LOST: Final = 12
"""Most lost members that are placed this way."""
_BUDGET: Final = 5_000
"""Places that are looked at in one domain, about 15 ms."""

_Worth = tuple[int, int]
"""Cost of the domains newly used, cost of the ring: less is better."""


class Refill:
    """Places for the lost members of one group without sub-groups.

    Parameters
    ----------
    tally : Tally
        Free slots; what the bound members take is taken in it.
    demand : Demand
        The group, with at least one bound member.
    ring : Ring
        Costs of hops.
    regions : Regions
        Where its members may be.
    """

    def __init__(self, tally: Tally, demand: Demand, ring: Ring, regions: Regions) -> None:
        self._tally, self._forest, self._demand, self._ring = tally, tally.forest, demand, ring
        self._regions = regions
        self._at = {rank: self._forest.place(node) for rank, node in demand.bound.items()}

    def best(self) -> Found | None:
        """Places of all ranks; None when the lost do not fit."""
        regions, lost = self._regions, self._demand.missing()
        camps = {regions.camp(place) for rank, place in self._at.items() if regions.held(rank)}
        if len(camps) > 1:
            return None
        camp = next(iter(camps), None)
        contenders = Contenders(self._tally, set(self._at.values()), sum(map(bool, lost)), leader=0 in lost)
        for region in regions.widening(list(self._at.values())):
            if regions.held(0) and not regions.inside(region, camp):
                return None
            branches = _Branches(self._tally, regions, contenders, self._ring, self._at)
            places = branches.best(lost, region, camp)
            if places is not None:
                return Found(self._forest.common(list(places)), places, branches.looked <= _BUDGET)
        return None

    def worth(self, found: Found) -> tuple[int, int, int]:
        """Level of the domain that holds all, cost of the domains newly used, cost of the ring: less is better."""
        level = len(self._forest.levels) if found.domain == ACROSS else self._forest.level_of[found.domain]
        cells = Cells(self._tally)
        used = {cell for place in self._at.values() for cell in cells.of(place)}
        new = {cell: cost for place in found.places for cell, cost in cells.of(place).items() if cell not in used}
        return level, sum(new.values()), self._ring.cost(found.places)


class _Branches:
    """The search in one region.

    Attributes
    ----------
    looked
        Places looked at so far; past the budget the best found need not be the best there is.
    """

    def __init__(
        self, tally: Tally, regions: Regions, contenders: Contenders, ring: Ring, at: Mapping[int, int]
    ) -> None:
        self._tally, self._forest, self._regions = tally, tally.forest, regions
        self._contenders, self._ring, self._cells = contenders, ring, Cells(tally)
        self._members = {cell for place in at.values() for cell in self._cells.of(place)}
        self._at, self._occupied = dict(at), Counter(at.values())
        self._used: Counter[Cell] = Counter(self._members)
        self._taken: Counter[int] = Counter()
        self._new_leader = -1
        self._worth: _Worth = (0, ring.cost([at[rank] for rank in sorted(at)]))
        self._best: tuple[_Worth, tuple[int, ...]] | None = None
        self._lost: tuple[int, ...] = ()
        self._region: Region = ACROSS
        self._camp: Region | None = None
        self._places: list[int] = []
        self.looked = 0

    def best(self, lost: tuple[int, ...], region: Region, camp: Region | None) -> tuple[int, ...] | None:
        """Places of all ranks in a region, those held by a hard rule in the camp (None: any one); None without room."""
        self._lost, self._region, self._camp = lost, region, camp
        self._places = [alone(region)] if region < ACROSS else self._contenders.within(region)
        self._grow(0)
        return None if self._best is None else self._best[1]

    def _grow(self, index: int) -> None:
        """Place the lost rank of this index and those behind it, in every way that may be better than the best."""
        if index == len(self._lost):
            self._keep()
            return
        for worth, _, place in sorted(self._steps(self._lost[index], len(self._lost) - index)):
            if self._best is not None and (worth >= self._best[0] or self.looked > _BUDGET):
                return
            before = self._worth, self._camp
            self._worth = worth
            self._put(self._lost[index], place)
            self._grow(index + 1)
            self._take_back(self._lost[index], place)
            self._worth, self._camp = before

    def _keep(self) -> None:
        places = tuple(self._at[rank] for rank in range(len(self._at)))
        self._best = self._worth, places
        self._places = [place for place in self._places if self._solo(place) <= self._worth[0]]

    def _solo(self, place: int) -> int:
        cells = self._cells.of(place)
        return sum(cost for cell, cost in cells.items() if cell not in self._members)

    # --- one step

    def _steps(self, rank: int, waiting: int) -> Iterator[tuple[_Worth, str, int]]:
        """Worth of the whole when the rank is put on a place, the place's name and the place; equal ones once."""
        self.looked += len(self._places)
        seen: set[object] = set()
        before, behind = self._neighbours(rank)
        hop, cells = self._ring.hop, self._cells
        cost, ring = self._worth
        ring -= hop(before, behind)
        for place in self._places:
            if not self._able(rank, place, waiting - 1):
                continue
            key = self._kind(place)
            if key not in seen:
                seen.add(key)
                new = sum(extra for cell, extra in cells.of(place).items() if not self._used[cell])
                yield (cost + new, ring + hop(before, place) + hop(place, behind)), self._forest.names[place], place

    def _neighbours(self, rank: int) -> tuple[int, int]:
        """Places of the nearest ranks before and behind that have one."""
        ranks = sorted(self._at)
        lower, higher = [r for r in ranks if r < rank], [r for r in ranks if r > rank]
        return self._at[(lower or ranks)[-1]], self._at[(higher or ranks)[0]]

    def _kind(self, place: int) -> object:
        """Equal for places that no rule tells apart as things stand."""
        pair, home = self._tally.pairs[place], self._forest.home(place)
        if self._occupied[place]:
            return place
        if home == ACROSS or self._forest.level_of[home] or self._used[0, home]:
            return home, pair
        return self._forest.parent[home], self._contenders.make(home), pair

    def _able(self, rank: int, place: int, waiting: int) -> bool:
        """There is room on the place, the rule is kept, and the ranks still waiting have room too."""
        workers, beside = self._tally.pairs[place]
        if rank == 0:
            return beside >= 0 and self._allowed(rank, place) and self._spare(place) >= waiting
        free = beside if place == self._new_leader else workers
        return free > self._taken[place] and self._allowed(rank, place) and self._holds_all(place, waiting + 1)

    def _allowed(self, rank: int, place: int) -> bool:
        return not self._regions.held(rank) or self._regions.holds(self._camp, place)

    def _spare(self, leader: int) -> int:
        """Worker slots where the workers must be, once the leader is on this place."""
        region = self._regions.inner(self._region, self._camp)
        workers, beside = self._tally.pairs[leader]
        return self._regions.free(region) - (workers - beside if self._regions.holds(region, leader) else 0)

    def _holds_all(self, place: int, waiting: int) -> bool:
        """The first worker decides where the others must be."""
        regions = self._regions
        if self._camp is not None:
            return True
        return regions.may_start(place) and regions.free(regions.inner(self._region, regions.camp(place))) >= waiting

    def _put(self, rank: int, place: int) -> None:
        if rank:
            self._taken[place] += 1
        else:
            self._new_leader = place
        if self._camp is None and self._regions.held(rank):
            self._camp = self._regions.camp(place)
        self._at[rank] = place
        self._occupied[place] += 1
        self._used.update(self._cells.of(place).keys())

    def _take_back(self, rank: int, place: int) -> None:
        if rank:
            self._taken[place] -= 1
        else:
            self._new_leader = -1
        del self._at[rank]
        self._occupied[place] -= 1
        self._used.subtract(self._cells.of(place).keys())
