"""Which places a few lost members may be given, with those left out that no rule tells from one that is in.

Of nodes with equal room in one domain as many stay as there are lost members. So do, of the unused domains of the
lowest level below one parent, the fullest that hold some number of the lost, and of equally full ones those of each
make.
"""

from collections.abc import Iterable, Sequence

from lws_volcano.placement.room import Pair
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["Contenders"]

Make = frozenset[tuple[Pair, int]]
"""Nodes of a domain by their room."""


class Contenders:
    """Places for a few pods.

    Parameters
    ----------
    tally : Tally
        Free slots.
    members : set of int
        Places of the members that stay.
    workers : int
        Lost workers.
    leader : bool
        The leader is lost too.
    """

    def __init__(self, tally: Tally, members: set[int], workers: int, *, leader: bool) -> None:
        self._tally, self._forest, self._members = tally, tally.forest, members
        self._workers, self._leader, self._lost = workers, leader, workers + leader
        self._used = {self._forest.home(place) for place in members}
        self._inhabited = {domain for home in self._used if home != ACROSS for domain in tally.forest.above[home]}
        self._makes: dict[int, Make] = {}

    def within(self, domain: int) -> list[int]:
        """Places in a domain (`ACROSS`: anywhere), by name."""
        forest = self._forest
        found = {place for place in self._members if domain == ACROSS or forest.holds(domain, place)}
        span = range(len(forest.domains)) if domain == ACROSS else range(domain, forest.end[domain])
        fresh: dict[int, list[int]] = {}
        for index in span:
            if forest.level_of[index] or index in self._used:
                found.update(self._alike(forest.attached[index]))
            elif self._tally.classes[index]:
                fresh.setdefault(forest.parent[index], []).append(index)
        for siblings in self._promising(fresh):
            for index in self._fullest(siblings):
                found.update(self._alike(forest.attached[index]))
        if domain == ACROSS:
            for entries in self._tally.loose.values():
                found.update(place for _, place in entries[: self._lost])
        return sorted(found, key=forest.names.__getitem__)

    def _promising(self, fresh: dict[int, list[int]]) -> Iterable[list[int]]:
        """Siblings by parent; for a single pod, which enters one branch only, those in the fullest unused branches."""
        if self._lost > 1:
            return fresh.values()
        forest, free, best = self._forest, self._tally.free, self._tally.best
        branches: dict[tuple[int, ...], list[tuple[list[int], list[int]]]] = {}
        for parent, siblings in fresh.items():
            above = forest.above[parent] if parent != ACROSS else ()
            unused = [domain for domain in reversed(above) if domain not in self._inhabited]
            if not unused or (best[parent] >= 0 if self._leader else free[parent]):
                start = forest.parent[unused[0]] if unused else parent
                key = (start, *(forest.level_of[domain] for domain in unused))
                branches.setdefault(key, []).append(([free[domain] for domain in unused], siblings))
        least = {key: min(frees for frees, _ in alike) for key, alike in branches.items()}
        return [found for key, alike in branches.items() for frees, found in alike if frees == least[key]]

    def make(self, domain: int) -> Make:
        """Equal for domains that are alike inside."""
        if domain not in self._makes:
            self._makes[domain] = frozenset(self._tally.classes[domain].items())
        return self._makes[domain]

    def _alike(self, places: Iterable[int]) -> list[int]:
        by_class: dict[Pair, list[int]] = {}
        for place in places:
            pair = self._tally.pairs[place]
            if pair[0] > 0 or pair[1] >= 0:
                by_class.setdefault(pair, []).append(place)
        names = self._forest.names
        return [p for equal in by_class.values() for p in sorted(equal, key=names.__getitem__)[: self._lost]]

    def _fullest(self, siblings: Sequence[int]) -> set[int]:
        """Unused domains below one parent that may be best for some number of the lost."""
        free, found = self._tally.free, set[int]()
        for workers in range(1, self._workers + 1):
            found.update(self._first([domain for domain in siblings if free[domain] >= workers]))
        if self._leader:
            lost = {domain: self._losses(domain) for domain in siblings}
            for loss in {loss for losses in lost.values() for loss in losses}:
                able = [domain for domain in siblings if loss in lost[domain]]
                for workers in range(self._workers + 1):
                    found.update(self._first([domain for domain in able if free[domain] - loss >= workers]))
        return found

    def _losses(self, domain: int) -> set[int]:
        """Worker slots that a leader may cost there."""
        return {workers - beside for workers, beside in self._tally.classes[domain] if beside >= 0}

    def _first(self, able: list[int]) -> list[int]:
        """The fullest, as many of each make as there are lost members."""
        free, names = self._tally.free, self._forest.domains
        able.sort(key=lambda domain: (free[domain], names[domain].name))
        most = free[able[: self._lost][-1]] if able else 0
        found: dict[Make, list[int]] = {}
        for domain in able:
            if free[domain] > most:
                break
            found.setdefault(self.make(domain), []).append(domain)
        return [domain for alike in found.values() for domain in alike[: self._lost]]
