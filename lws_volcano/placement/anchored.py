"""Groups with bound members that `refill` leaves to rules: with sub-groups, or with many members lost.

Sub-group after sub-group (without any: all at once) the lost go to the closest region around the bound members of
their own, else of the group, that has room for them; there to the cheapest nodes, where what members use already costs
nothing (`beside`); and to the ranks in which the ring is short (`seating`). A sub-group of which nobody is bound stays
whole in the lowest domain that takes it.
"""

from collections.abc import Iterator, Sequence

from lws_volcano.placement.beside import Beside
from lws_volcano.placement.cost import INFINITE
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.region import Region, Regions, alone
from lws_volcano.placement.ring import Ring
from lws_volcano.placement.room import Pair
from lws_volcano.placement.search import Found
from lws_volcano.placement.seating import seated
from lws_volcano.placement.spread import Load, Seats, Units
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["Anchored"]


class Anchored:
    """Places for the missing members of one group.

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
        self._bound = {rank: self._forest.place(node) for rank, node in demand.bound.items()}
        self._at: dict[int, int] = {}
        self._taken: dict[int, Pair] = {}

    def best(self) -> Found | None:
        """All ranks' places, or None when the rest does not fit."""
        for camp in self._camps():
            for parts in self._ways():
                self._at = dict(self._bound)
                try:
                    fits = all(self._settle(ranks, camp) for ranks in parts if ranks)
                finally:
                    self._give_back()
                if fits:
                    places = [self._at[rank] for rank in range(self._demand.size)]
                    return Found(self._forest.common(places), tuple(places), exact=len(places) == len(self._bound))
        return None

    # --- who, and within what

    def _camps(self) -> Iterator[Region]:
        """What the members held by a hard rule must stay in, none when they have left it."""
        camps = {self._regions.camp(place) for rank, place in self._bound.items() if self._regions.held(rank)}
        if camps:
            yield from camps if len(camps) == 1 else ()
            return
        camp = self._regions.camp(self._bound[0])
        if camp == ACROSS:
            yield camp
            return
        workers = list(range(1, self._demand.size))
        for region in self._regions.widening([self._bound[0]]):
            seats = self._find(region, workers, self._regions.top)
            if seats and self._regions.may_start(seats[0].place):
                yield self._regions.camp(seats[0].place)
                return

    def _ways(self) -> Iterator[list[list[int]]]:
        """Missing ranks that belong together: each sub-group; else all of them, and if need be the leader apart."""
        missing = list(self._demand.missing())
        yield self._parts(missing)
        if not self._regions.held(0) and 0 in missing:
            yield [*self._parts([rank for rank in missing if rank]), [0]]

    def _parts(self, ranks: list[int]) -> list[list[int]]:
        split = self._demand.split
        if split is None:
            return [ranks]
        indices = {split.index(rank) for rank in ranks}
        ordered = sorted(indices, key=lambda index: -1 if index is None else index)
        return [[rank for rank in ranks if split.index(rank) == index] for index in ordered]

    # --- one part after the other

    def _settle(self, ranks: list[int], camp: Region) -> bool:
        own = self._own(ranks)
        for limit in (self._whole_at(), None) if not own else (None,):
            for region in self._reach(ranks, own, camp):
                seats = self._find(region, ranks, limit)
                if seats:
                    self._take(ranks, seats)
                    return True
        return False

    def _own(self, ranks: Sequence[int]) -> list[int]:
        """Places of members of the same sub-group; without sub-groups of all."""
        split = self._demand.split
        if split is None:
            return list(self._at.values())
        return [at for rank, at in self._at.items() if split.index(rank) == split.index(ranks[0])]

    def _whole_at(self) -> int:
        """Highest level at which a sub-group counts as whole."""
        return self._forest.allowed_level(self._demand.rules.sub_group_tier)

    def _reach(self, ranks: Sequence[int], own: list[int], camp: Region) -> list[Region]:
        """Regions to look in, the closest first."""
        everyone = list(self._at.values())
        if ranks == [0] and not self._regions.held(0):
            return self._regions.widening(own or everyone)
        near = [[place for place in places if self._regions.holds(camp, place)] for places in (own, everyone)]
        anchors = near[0] or near[1]
        if not anchors:
            return [camp]
        return [region for region in self._regions.widening(anchors) if self._regions.inside(region, camp)]

    def _find(self, region: Region, ranks: Sequence[int], limit: int | None) -> list[Seats]:
        """Nodes in a region, for all ranks together in one domain up to a level where there is a limit."""
        leader, workers = 0 in ranks, sum(map(bool, ranks))
        if region < ACROSS:
            fits = self._tally.pairs[alone(region)][leader] >= workers
            return [Seats(alone(region), workers, leader)] if fits else []
        level = len(self._forest.levels) if region == ACROSS else self._forest.level_of[region]
        for whole in range(-1, min(level, limit + 1)) if limit is not None and workers else ():
            units = Units(whole, workers, workers if leader else 0)
            seats = self._seats(region, Load(int(not leader), leader), units)
            if seats:
                return seats
        return self._seats(region, Load(workers, leader)) if limit is None or level <= limit else []

    def _seats(self, region: Region, load: Load, units: Units | None = None) -> list[Seats]:
        """The cheapest nodes below a domain, or anywhere; none when there is no room."""
        if region < ACROSS:
            return []
        members = (self._at or self._bound).values()
        spread = Beside(self._tally, load, members, units, loose=region == ACROSS and units is None)
        return spread.seats(region) if spread.cost(region) < INFINITE else []

    def _take(self, ranks: Sequence[int], seats: Sequence[Seats]) -> None:
        """Give the ranks their nodes, and take the room until all parts are placed."""
        for place, count, leader in seats:
            workers, beside = self._tally.pairs[place]
            self._taken.setdefault(place, (workers, beside))
            self._tally.admit(place, (beside - count, -1) if leader else (workers - count, max(beside - count, -1)))
            if leader:
                self._at[0] = place
        slots = [seat.place for seat in seats for _ in range(seat.workers)]
        self._at.update(seated(self._ring, self._at, [rank for rank in ranks if rank], slots))

    def _give_back(self) -> None:
        for place, pair in self._taken.items():
            self._tally.admit(place, pair)
        self._taken.clear()
