"""How many whole groups' pods fit where, for one pair of leader and worker shapes, kept up to date.

Per place: workers that fit, and workers that fit beside a leader. Per domain: their sum, a histogram of its nodes, and
from that the least that a leader costs in worker slots and the most that one node takes. Per level: domains ordered by
free slots. One changed node costs O(depth + classes of equal nodes), whatever the size of the cluster; changes are
collected and worked off when the tally is asked next.

Notes
-----
A domain holds a leader and `n` workers exactly when sum(w) - min over leader-capable nodes (w - w') >= n, with w the
workers that fit on a node and w' those that fit there beside the leader: leader and workers are looked at together
(kubernetes-sigs/kueue#7446).
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lws_volcano.placement.forest import Forest
from lws_volcano.placement.room import Pair, Room
from lws_volcano.placement.shape import Shape

__all__ = ["NEVER", "Tally"]

NEVER: Final = 1 << 60
"""Loss of a domain without any node for the leader."""
_EMPTY: Final = (0, -1)


class Tally:
    """Free slots of one (leader, worker) pair of shapes.

    Attributes
    ----------
    pairs
        Place -> (workers, workers beside a leader).
    free
        Domain -> worker slots.
    classes
        Domain -> {pair: nodes}, full nodes left out.
    loss, best
        Domain -> least worker slots that a leader costs, most workers on the leader's node (-1: no leader fits).
    order
        Level -> sorted (free, name, domain).
    loose
        Pair -> sorted (name, place) of nodes without a domain.
    """

    def __init__(self, forest: Forest, leader: Shape, worker: Shape, rooms: Sequence[Room]) -> None:
        self.forest, self.leader, self.worker = forest, leader, worker
        self.rooms = rooms
        self.dirty: set[int] = set()
        count = len(forest.domains)
        self.pairs: list[Pair] = []
        self.free = [0] * count
        self.ceiling = [0] * count
        self.classes: list[dict[Pair, int]] = [{} for _ in range(count)]
        self.loss = [NEVER] * count
        self.best = [-1] * count
        self.order: list[list[tuple[int, str, int]]] = [[] for _ in forest.levels]
        self.loose: dict[Pair, list[tuple[str, int]]] = {}
        self._empty: list[int] = []
        self._seen: list[int] = []
        self._build()

    def _build(self) -> None:
        gained: dict[int, int] = {}
        for place in range(len(self.rooms)):
            self._append(place)
            self._recount(place, self.rooms[place].pair(self.leader, self.worker), gained)
        for domain, change in gained.items():
            self.free[domain] = change
        self._sort()

    def only(self, places: Iterable[int]) -> "Tally":
        """The same counts with room on these places alone: a value for one plan, which does not follow changes."""
        part = Tally(self.forest, self.leader, self.worker, ())
        part.pairs = [_EMPTY] * len(self.pairs)
        for place in places:
            part.admit(place, self.pairs[place])
        return part

    def admit(self, place: int, pair: Pair) -> None:
        """A place has this much room from now on."""
        gained: dict[int, int] = {}
        self._recount(place, pair, gained)
        self._reorder(gained)

    def _sort(self) -> None:
        for domain in range(len(self.free)):
            self._summarise(domain)
            self.order[self.forest.level_of[domain]].append(self._entry(domain))
        for entries in self.order:
            entries.sort()

    def _append(self, place: int) -> None:
        self.pairs.append(_EMPTY)
        self._empty.append(0)
        self._seen.append(-1)
        self._reconsider(place)

    def _reconsider(self, place: int) -> None:
        """The ceiling changes with the node object only, not with what sits on it."""
        room = self.rooms[place]
        if self._seen[place] == room.version:
            return
        self._seen[place] = room.version
        ceiling = room.ceiling(self.worker)
        change = ceiling - self._empty[place]
        self._empty[place] = ceiling
        if change:
            for domain in self.forest.chain(place):
                self.ceiling[domain] += change

    def _entry(self, domain: int) -> tuple[int, str, int]:
        return self.free[domain], self.forest.domains[domain].name, domain

    def refresh(self) -> None:
        """Work off the nodes that changed."""
        while len(self.pairs) < len(self.rooms):
            place = len(self.pairs)
            self._append(place)
            self.dirty.add(place)
        if not self.dirty:
            return
        gained: dict[int, int] = {}
        for place in self.dirty:
            self._reconsider(place)
            self._recount(place, self.rooms[place].pair(self.leader, self.worker), gained)
        self.dirty.clear()
        self._reorder(gained)

    def _recount(self, place: int, pair: Pair, gained: dict[int, int]) -> None:
        """Take the new room of a place in; what its domains gained is added up, to put each in order once."""
        old, self.pairs[place] = self.pairs[place], pair
        if old == pair:
            return
        if self.forest.loose(place):
            self._move_loose(place, old, pair)
        for domain in self.forest.chain(place):
            classes = self.classes[domain]
            if old != _EMPTY:
                left = classes[old] - 1
                if left:
                    classes[old] = left
                else:
                    del classes[old]
            if pair != _EMPTY:
                classes[pair] = classes.get(pair, 0) + 1
            gained[domain] = gained.get(domain, 0) + pair[0] - old[0]

    def _move_loose(self, place: int, old: Pair, pair: Pair) -> None:
        entry = (self.forest.names[place], place)
        if old != _EMPTY:
            self.loose[old].remove(entry)
            if not self.loose[old]:
                del self.loose[old]
        if pair != _EMPTY:
            insort(self.loose.setdefault(pair, []), entry)

    def _reorder(self, gained: Mapping[int, int]) -> None:
        for domain, change in gained.items():
            if change:
                entries = self.order[self.forest.level_of[domain]]
                del entries[bisect_left(entries, self._entry(domain))]
                self.free[domain] += change
                insort(entries, self._entry(domain))
            self._summarise(domain)

    def _summarise(self, domain: int) -> None:
        loss, best = NEVER, -1
        for workers, beside in self.classes[domain]:
            if beside >= 0:
                loss = min(loss, workers - beside)
                best = max(best, beside)
        self.loss[domain], self.best[domain] = loss, best

    def fits(self, domain: int, workers: int) -> bool:
        """A leader and so many workers fit in the domain together."""
        return self.free[domain] - self.loss[domain] >= workers

    def largest(self, domain: int) -> int:
        """Pods of the largest group that fits, leader included; 0 when no leader does."""
        return max(self.free[domain] - self.loss[domain] + 1, 0)

    def at_least(self, level: int, workers: int) -> Iterator[int]:
        """Domains of a level with so many free worker slots, fullest first, then by name."""
        entries = self.order[level]
        for index in range(bisect_left(entries, (workers,)), len(entries)):
            yield entries[index][2]
