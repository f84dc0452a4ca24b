"""How full domains are, by the measure with which Volcano's network-topology-aware plugin chooses among HyperNodes.

For the cpu and memory that a group asks for: (used + asked) / allocatable, averaged; 0 when one of them does not fit.
The fullest wins, equal ones are drawn by chance. GPUs count only where an operator configured them
(`hypernode.binpack.resources`), which is not known here.

Sums are kept per domain; a changed node costs O(depth) when they are asked for next.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from lws_volcano.placement.forest import Forest
from lws_volcano.placement.room import Room

__all__ = ["Fullness"]

_MEASURED: Final = ("cpu", "memory")
_Amounts = tuple[int, ...]
"""Used and allocatable of each measured resource, nano units."""


class Fullness:
    """Used and allocatable resources of every domain.

    Attributes
    ----------
    dirty
        Places that changed since the last look.
    """

    def __init__(self, forest: Forest, rooms: Sequence[Room]) -> None:
        self._forest, self._rooms = forest, rooms
        self._sums = [[0] * (2 * len(_MEASURED)) for _ in forest.domains]
        self._seen: dict[int, _Amounts] = {}
        self.dirty: set[int] = set(range(forest.tree_size))

    def of(self, domain: int, asked: Mapping[str, int]) -> float:
        """The measure of a domain for a group that asks for so much (resource -> nano units)."""
        self._refresh()
        shares: list[float] = []
        for index, resource in enumerate(_MEASURED):
            request = asked.get(resource, 0)
            used, allocatable = self._sums[domain][2 * index : 2 * index + 2]
            if not request:
                continue
            if used + request > allocatable:
                return 0.0
            shares.append((used + request) / allocatable)
        return sum(shares) / len(shares) if shares else 0.0

    def _refresh(self) -> None:
        for place in self.dirty:
            if place >= self._forest.tree_size:
                continue
            now, before = _amounts(self._rooms[place]), self._seen.get(place, (0,) * (2 * len(_MEASURED)))
            self._seen[place] = now
            for domain in self._forest.chain(place) if now != before else ():
                sums = self._sums[domain]
                for index, (new, old) in enumerate(zip(now, before, strict=True)):
                    sums[index] += new - old
        self.dirty.clear()


def _amounts(room: Room) -> _Amounts:
    return tuple(part.get(resource, 0) for resource in _MEASURED for part in (room.used, room.allocatable))
