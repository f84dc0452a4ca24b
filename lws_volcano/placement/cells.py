"""Domains that a place uses, one a level, and what using them costs."""

from collections.abc import Iterator

from lws_volcano.placement.cost import Costs
from lws_volcano.placement.tally import Tally

__all__ = ["Cell", "Cells"]

Cell = tuple[int, int]
"""(level, domain), or the complement of a place where a node stands alone."""


class Cells:
    """The domains above a place; where a level is missing, what lies below stands alone in it."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._forest = tally, tally.forest
        self._costs = Costs(len(self._forest.levels))
        self._known: dict[int, dict[Cell, int]] = {}

    def of(self, place: int) -> dict[Cell, int]:
        """Cells above a place, and what using each costs."""
        if place not in self._known:
            self._known[place] = dict(self._above(place))
        return self._known[place]

    def _above(self, place: int) -> Iterator[tuple[Cell, int]]:
        domains = {self._forest.level_of[domain]: domain for domain in self._forest.chain(place)}
        below, free = ~place, self._tally.pairs[place][0]
        for level in range(len(self._forest.levels)):
            if level in domains:
                below = domains[level]
                free = self._tally.free[below]
            yield (level, below), self._costs.domain[level] + free * self._costs.slot[level]
