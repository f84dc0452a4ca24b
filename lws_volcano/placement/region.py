"""Where members may be that join others: regions, each inside the next one.

A region is a domain, `ACROSS` for everywhere, or one node.
"""

from collections.abc import Sequence

from lws_volcano.placement.demand import Demand
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["Region", "Regions", "alone"]

Region = int


def alone(place: int) -> Region:
    """The region of one node; its own inverse."""
    return -2 - place


class Regions:
    """Regions for one demand.

    Parameters
    ----------
    tally : Tally
        Free slots.
    demand : Demand
        The group.
    top : int
        Highest level allowed under a hard rule.
    hard : bool
        Whether there is one.
    """

    def __init__(self, tally: Tally, demand: Demand, top: int, *, hard: bool) -> None:
        self._tally, self._forest = tally, tally.forest
        self._scope, self.top, self._hard = demand.rules.scope, top, hard

    def held(self, rank: int) -> bool:
        """The rank must keep to the hard rule."""
        return rank > 0 or self._scope == "group"

    def camp(self, place: int) -> Region:
        """What all that are held by the rule must stay in when one of them is on this place."""
        if not self._hard:
            return ACROSS
        allowed = [domain for domain in self._forest.chain(place) if self._forest.level_of[domain] <= self.top]
        return allowed[-1] if allowed else alone(place)

    def may_start(self, place: int) -> bool:
        """The first that is held by the rule may be here: under a hard one not on a node without a domain."""
        return not self._hard or not self._forest.loose(place)

    def widening(self, anchors: Sequence[int]) -> list[Region]:
        """The node that the anchors share, the lowest domain around them, and so on."""
        regions = [alone(anchors[0])] if len(set(anchors)) == 1 else []
        base = self._forest.home(anchors[0]) if regions else self._forest.common(list(anchors))
        regions += self._forest.above[base] if base != ACROSS else ()
        return [*regions, ACROSS]

    def inside(self, region: Region, other: Region | None) -> bool:
        """Of two regions of which one is in the other, the first is the inner one; all are inside None."""
        return other is None or self._size(region) <= self._size(other)

    def inner(self, region: Region, other: Region | None) -> Region:
        """The inner of two of which one is in the other."""
        return region if other is None or self.inside(region, other) else other

    def holds(self, region: Region | None, place: int) -> bool:
        """The place is in the region; all are in None."""
        if region is not None and region >= 0:
            return self._forest.holds(region, place)
        return region in {None, ACROSS, alone(place)}

    def free(self, region: Region) -> int:
        """Worker slots of a region."""
        tally = self._tally
        if region == ACROSS:
            loose = sum(pair[0] * len(nodes) for pair, nodes in tally.loose.items())
            return loose + sum(tally.free[root] for root in self._forest.roots)
        return tally.free[region] if region >= 0 else tally.pairs[alone(region)][0]

    def _size(self, region: Region) -> int:
        if region == ACROSS:
            return len(self._forest.levels)
        return self._forest.level_of[region] if region >= 0 else -1
