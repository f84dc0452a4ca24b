"""A load beside members that stay: the domains and nodes that they use cost nothing."""

from collections.abc import Iterable, Sequence

from lws_volcano.placement.room import Pair
from lws_volcano.placement.spread import NODES, Load, Part, Spread, Table, Units
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["Beside"]


class Beside(Spread):
    """Placements of one load; a node of a member is a part of its own.

    Parameters
    ----------
    members : iterable of int
        Places of those that stay.
    """

    def __init__(
        self, tally: Tally, load: Load, members: Iterable[int], units: Units | None = None, *, loose: bool = False
    ) -> None:
        super().__init__(tally, load, units, loose=loose)
        self._members: dict[int, list[int]] = {}
        for place in sorted(set(members), key=tally.forest.names.__getitem__):
            self._members.setdefault(tally.forest.home(place), []).append(place)
        self._in_use = {domain for home in self._members if home != ACROSS for domain in tally.forest.above[home]}

    def _edge(self, child: int, level: int) -> int:
        return 0 if child in self._in_use else super()._edge(child, level)

    def _own(self, domain: int) -> Sequence[int]:
        members = self._members.get(domain, ())
        return [place for place in super()._own(domain) if place not in members]

    def _attached(self, domain: int) -> dict[Pair, int]:
        if domain not in self._members:
            return super()._attached(domain)
        level, classes = self._level(domain), dict[Pair, int]()
        for place in self._own(domain):
            pair = self._pair(place, level)
            if pair[0] or pair[1] >= 0:
                classes[pair] = classes.get(pair, 0) + 1
        return classes

    def _parts(self, domain: int) -> list[Part]:
        parts = super()._parts(domain)
        if domain == ACROSS and not self.loose:
            return parts
        for place in self._members.get(domain, ()):
            workers, beside = self._pair(place, self._level(domain))
            led = [0] * (min(beside, self._most) + 1) if self.load.leader else []
            parts.append(Part(NODES, Table([0] * (min(workers, self._most) + 1), led), place))
        return parts
