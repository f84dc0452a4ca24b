"""Groups with bound members that `refill` leaves to rules: with sub-groups, or with many members lost.

Those that have a node stay, the others come as near to them as there is room.

The lowest domain around the bound members that also holds the rest is taken; in it the nodes and domains in use are
filled first, then the fullest part that takes all of what remains. Ranks are then given out for the least ring cost:
every order is tried for few missing members, exchanges of two for many.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations
from typing import Final

from lws_volcano.placement.demand import Demand
from lws_volcano.placement.pack import choose
from lws_volcano.placement.ranks import nearness
from lws_volcano.placement.ring import Ring
from lws_volcano.placement.room import Pair
from lws_volcano.placement.search import Found
from lws_volcano.placement.spread import Load, Spread, take_nodes
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["Anchored"]

_EVERY_ORDER: Final = 6
"""Missing members of which every order is tried."""
_EXCHANGES: Final = 2000


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
    """

    def __init__(self, tally: Tally, demand: Demand, ring: Ring) -> None:
        self.tally, self.forest, self.demand, self.ring = tally, tally.forest, demand, ring
        self.at = {rank: self.forest.place(node) for rank, node in demand.bound.items()}
        self.taken: dict[int, int] = {}
        self.leader_at = self.at.get(0, -1)
        self.leader_bound = 0 in self.at

    def best(self, top: int, *, hard: bool) -> Found | None:
        """All ranks' places, or None when the rest does not fit."""
        bound = dict(self.at)
        for parts in self._ways():
            self.at, self.taken, self.leader_at = dict(bound), {}, bound.get(0, -1)
            if all(self._settle(ranks, top, hard=hard and not self._is_apart(ranks)) for ranks in parts if ranks):
                places = [self.at[rank] for rank in range(self.demand.size)]
                return Found(self.forest.common(places), tuple(places), exact=len(self.demand.missing()) <= 1)
        return None

    def _is_apart(self, ranks: list[int]) -> bool:
        """Only the leader, and it need not keep to its workers' domain."""
        return ranks == [0] and self.demand.rules.scope == "workers"

    def _ways(self) -> Iterator[list[list[int]]]:
        """Missing ranks that belong together: each sub-group; else all of them, and if need be the leader apart."""
        missing = list(self.demand.missing())
        yield self._parts(missing)
        if self.demand.rules.scope == "workers" and 0 in missing:
            yield [*self._parts([rank for rank in missing if rank]), [0]]

    def _parts(self, ranks: list[int]) -> list[list[int]]:
        split = self.demand.split
        if split is None:
            return [ranks]
        indices = {split.index(rank) for rank in ranks}
        ordered = sorted(indices, key=lambda index: -1 if index is None else index)
        return [[rank for rank in ranks if split.index(rank) == index] for index in ordered]

    def _settle(self, ranks: list[int], top: int, *, hard: bool) -> bool:
        anchors = self._anchors(ranks)
        workers = len(ranks) - (0 in ranks)
        for domain in self._around(anchors, top, hard=hard) if anchors else self._near_leader(workers, top):
            if 0 in ranks:
                self.leader_at = self._leader_place(domain, anchors, workers)
                if self.leader_at < 0:
                    continue
            if self._free(domain) >= workers:
                slots = self._gather(domain, workers, {*anchors, *([self.leader_at] if 0 in ranks else [])})
                self._give_out(ranks, slots)
                return True
        return False

    def _anchors(self, ranks: list[int]) -> list[int]:
        """Places of the members that the ranks belong to; none when only a leader apart from its workers is there."""
        split, rules = self.demand.split, self.demand.rules
        apart = rules.scope == "workers" and rules.limited and 0 not in ranks
        there = {rank: at for rank, at in self.at.items() if rank or not apart}
        own = [at for rank, at in there.items() if split is not None and split.index(rank) == split.index(ranks[0])]
        return own or list(there.values())

    def _near_leader(self, workers: int, top: int) -> Iterator[int]:
        """Allowed domains with room for all workers, the nearest to their leader first, then as usual."""
        forest, leader = self.forest, self.at[0]
        keyed: list[tuple[int, int, int, str, int]] = []
        for level in range(top + 1):
            for domain in self.tally.at_least(level, workers):
                around = next((up for up in forest.above[domain] if forest.holds(up, leader)), ACROSS)
                distance = len(forest.levels) if around == ACROSS else forest.level_of[around]
                keyed.append((distance, level, self.tally.free[domain], forest.domains[domain].name, domain))
        return (entry[-1] for entry in sorted(keyed))

    def _around(self, anchors: list[int], top: int, *, hard: bool) -> Iterator[int]:
        """Domains that hold the anchors, closest first; under a hard rule none above `top`."""
        base = self.forest.common(anchors) if len(set(anchors)) > 1 else self.forest.home(anchors[0])
        for domain in self.forest.above[base] if base != ACROSS else ():
            if not hard or self.forest.level_of[domain] <= top:
                yield domain
        if not hard:
            yield ACROSS

    # --- room beside what was just given out

    def _slots(self, place: int) -> int:
        workers, beside = self.tally.pairs[place]
        new_leader = place == self.leader_at and not self.leader_bound
        return (beside if new_leader else workers) - self.taken.get(place, 0)

    def _free(self, domain: int) -> int:
        if domain == ACROSS:
            return sum(self._slots(place) for place in range(len(self.tally.pairs)))
        used = sum(count for place, count in self.taken.items() if self.forest.holds(domain, place))
        leader = self.leader_at
        if leader >= 0 and not self.leader_bound and self.forest.holds(domain, leader):
            used += self.tally.pairs[leader][0] - self.tally.pairs[leader][1]
        return self.tally.free[domain] - used

    def _places(self, domain: int) -> Sequence[int]:
        if domain == ACROSS:
            return range(len(self.tally.pairs))
        return range(self.forest.domains[domain].lo, self.forest.domains[domain].hi)

    # --- choosing nodes

    def _leader_place(self, domain: int, anchors: list[int], workers: int) -> int:
        """The nearest node for a lost leader that leaves the missing workers their room, -1 without one."""
        pairs = self.tally.pairs
        spare = self._free_without_leader(domain) - workers
        given = self.taken
        able = (
            place
            for place in self._places(domain)
            if pairs[place][1] >= given.get(place, 0) and pairs[place][0] - pairs[place][1] <= spare
        )
        return min(able, key=lambda place: self._distance(place, anchors), default=-1)

    def _free_without_leader(self, domain: int) -> int:
        self.leader_at = -1
        return self._free(domain)

    def _distance(self, place: int, anchors: Sequence[int]) -> tuple[int, int, int, str]:
        """Nearest to any anchor first, then the fuller domain, the fuller node, the name."""
        near = min(self._apart(place, anchor) for anchor in set(anchors))
        home = self.forest.home(place)
        free = self.tally.free[home] if home != ACROSS else 0
        return near, free, self.tally.pairs[place][0], self.forest.names[place]

    def _apart(self, left: int, right: int) -> int:
        """Level at which two places meet, below all levels for the same node."""
        if left == right:
            return -1
        domain = self.forest.meeting(left, right)
        return len(self.forest.levels) if domain == ACROSS else self.forest.level_of[domain]

    def _gather(self, domain: int, workers: int, anchors: set[int]) -> list[int]:
        """Places of so many workers below a domain that has room for them, from the anchors outwards."""
        found: list[int] = []
        for place in sorted(anchors, key=lambda p: (-self._slots(p), p)):
            if domain == ACROSS or self.forest.holds(domain, place):
                found += self._take(place, workers - len(found))
        for part in [*self._widening(domain, anchors), domain]:
            found += self._fill(part, workers - len(found))
        return found

    def _widening(self, domain: int, anchors: set[int]) -> list[int]:
        """Domains in use, from the closest outwards, up to `domain`."""
        used = {d for place in anchors for d in self.forest.chain(place)}
        if domain != ACROSS:
            used = {d for d in used if self.forest.inside(d, domain)}
        return sorted(used, key=lambda d: (self.forest.level_of[d], self.tally.free[d], self.forest.domains[d].name))

    def _take(self, place: int, workers: int) -> list[int]:
        count = min(max(self._slots(place), 0), workers)
        if count > 0:
            self.taken[place] = self.taken.get(place, 0) + count
        return [place] * max(count, 0)

    def _fill(self, domain: int, workers: int) -> list[int]:
        """Workers below a domain: the fullest part that takes them all, else the roomiest and so on."""
        workers = min(workers, self._free(domain))
        found: list[int] = []
        while len(found) < workers:
            rest = workers - len(found)
            parts = self._untouched(domain)
            whole = [part for part in parts if self._free(part) >= rest]
            if not parts:
                return found + self._fill_nodes(domain, rest)
            part = min(whole, key=self._fullness) if whole else max(parts, key=self._fullness)
            found += self._fill_fresh(part, min(rest, self._free(part)))
        return found

    def _untouched(self, domain: int) -> list[int]:
        """Child domains with room of which nothing was given out yet."""
        children = self.forest.roots if domain == ACROSS else self.forest.children[domain]
        return [c for c in children if self.tally.free[c] and self._free(c) == self.tally.free[c]]

    def _fullness(self, domain: int) -> tuple[int, str]:
        return self.tally.free[domain], self.forest.domains[domain].name

    def _fill_fresh(self, domain: int, workers: int) -> list[int]:
        found: list[int] = []
        for seat in Spread(self.tally, Load(workers, leader=False)).seats(domain):
            found += self._take(seat.place, seat.workers)
        return found

    def _fill_nodes(self, domain: int, workers: int) -> list[int]:
        """Single nodes below a domain, whatever was given out around them."""
        pairs: dict[int, Pair] = {p: (max(self._slots(p), 0), -1) for p in self._places(domain)}
        classes: dict[Pair, int] = {}
        for pair in pairs.values():
            classes[pair] = classes.get(pair, 0) + 1
        found: list[int] = []
        for seat in take_nodes(self.tally, pairs, choose(classes, workers, leader=False)):
            found += self._take(seat.place, seat.workers)
        return found

    # --- giving out ranks

    def _give_out(self, ranks: list[int], slots: list[int]) -> None:
        if 0 in ranks:
            self.at[0] = self.leader_at
        waiting = [rank for rank in ranks if rank]
        origin = self.at.get(0, next(iter(self.at.values())))
        slots.sort(key=lambda place: nearness(self.forest, origin, place))
        orders = self._orders(slots)
        best = min(orders, key=lambda order: self._ring(waiting, order)) if len(slots) > 1 else slots
        self.at.update(zip(waiting, self._exchanged(waiting, list(best)), strict=True))

    def _orders(self, slots: list[int]) -> Iterator[Sequence[int]]:
        return permutations(slots) if len(slots) <= _EVERY_ORDER else iter([slots])

    def _exchanged(self, ranks: list[int], slots: list[int]) -> list[int]:
        if len(slots) <= _EVERY_ORDER or not self.demand.bound.keys() - {0}:
            return slots  # all orders were tried, or nothing but the leader, where the order starts, is fixed
        cost = self._ring(ranks, slots)
        for left, right in islice(combinations(range(len(slots)), 2), _EXCHANGES):
            slots[left], slots[right] = slots[right], slots[left]
            changed = self._ring(ranks, slots)
            if changed < cost:
                cost = changed
            else:
                slots[left], slots[right] = slots[right], slots[left]
        return slots

    def _ring(self, ranks: list[int], slots: Sequence[int]) -> int:
        at = {**self.at, **dict(zip(ranks, slots, strict=True))}
        return self.ring.cost([at[rank] for rank in sorted(at)])
