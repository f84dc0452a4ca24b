"""A group in one domain of the tree: which lower domains and nodes take how many of its pods.

Counted upwards (what is the cheapest way to put j workers, with or without the leader, below this domain), then
assigned downwards. `cost` says what cheap means. Within the budget the result is the exact minimum. Past it a split
takes all or as little as possible of each part: the number of domains just below the common one is then still the
minimum, what lies deeper may not be, and `exact` tells.

Notes
-----
With sub-groups the parts that move between domains above the sub-groups' level are whole sub-groups: below that level
pods are counted, above it sub-groups. The change of units happens on the edge of the tree that passes the level.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add
from typing import Final, NamedTuple

from lws_volcano.placement.cost import INFINITE, Costs
from lws_volcano.placement.pack import Share, choose, coverage, led_coverage
from lws_volcano.placement.room import Pair
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["BUDGET", "NODES", "Load", "Part", "Seats", "Spread", "Table", "Units", "take_nodes"]

BUDGET: Final = 120_000
"""Steps of the exact search below one domain; about 20 ms."""
NODES: Final = -2
"""In place of a child domain: the nodes straight in a domain."""
_NODE: Final = -1
"""Level of nodes."""


class Load(NamedTuple):
    """What is put somewhere: workers (or sub-groups), and the leader (with the workers that go with it)."""

    workers: int
    leader: bool


class Seats(NamedTuple):
    """Pods on one node."""

    place: int
    workers: int
    leader: bool


class Units(NamedTuple):
    """Sub-groups as units: above `level` only whole ones move.

    `first` workers go with the leader; it is 0 when the leader is apart from the sub-groups. `alone`: no two in one
    domain of that level.
    """

    level: int
    size: int
    first: int
    alone: bool = False

    def table(self, plain: list[int], led: list[int]) -> "Table":
        """Costs by sub-groups from costs by pods."""
        plain, led = plain[:: self.size], led[self.first :: self.size]
        return Table(plain[:2], led[: 1 if self.first else 2]) if self.alone else Table(plain, led)

    def pods(self, load: Load) -> Load:
        """The same load counted in pods."""
        return Load(load.workers * self.size + (self.first if load.leader else 0), load.leader)

    def pair(self, pair: Pair) -> Pair:
        """Sub-groups that fit where so many workers fit."""
        workers, beside = pair
        return workers // self.size, (beside - self.first) // self.size if beside >= self.first else -1


@dataclass(frozen=True, slots=True)
class Table:
    """Cheapest costs below one domain: index = workers, without and with the leader."""

    plain: list[int]
    led: list[int]


@dataclass(frozen=True, slots=True)
class Part:
    """A child domain, or with `child` `NODES`: the nodes straight in a domain, or one of them."""

    child: int
    table: Table
    place: int = -1


@dataclass(frozen=True, slots=True)
class _Counted:
    """A domain counted: its parts, and the tables of the first 0, 1, 2 … of them together."""

    parts: list[Part]
    tables: list[Table]
    coarse: bool


class Spread:
    """Placements of one load below the domains of one tally.

    Parameters
    ----------
    tally : Tally
        Free slots.
    load : Load
        The whole group; with `units` its workers are sub-groups (the first, which goes with the leader, not counted).
    units : Units, optional
        Sub-groups.
    budget : int
        Steps of the exact search.
    loose : bool
        Nodes without a domain count too, each as a tree of its own.
    """

    def __init__(
        self, tally: Tally, load: Load, units: Units | None = None, budget: int = BUDGET, *, loose: bool = False
    ) -> None:
        self.tally, self.forest, self.load, self.units, self.loose = tally, tally.forest, load, units, loose
        self.costs = Costs(len(tally.forest.levels))
        self.budget = budget
        self.exact = True
        self._most = load.workers if units is None else units.pods(load).workers
        self._counted: dict[int, _Counted] = {}

    # --- counting up

    def cost(self, domain: int) -> int:
        """Cheapest cost of the whole load in a domain, its own free slots included; `INFINITE` when it does not fit."""
        table = self._count(domain).tables[-1]
        row = table.led if self.load.leader else table.plain
        below = row[self.load.workers] if self.load.workers < len(row) else INFINITE
        if below >= INFINITE or domain == ACROSS:
            return below
        return below + self.tally.free[domain] * self.costs.slot[self.forest.level_of[domain]]

    def _level(self, domain: int) -> int:
        """Level of a domain; what holds all trees and the nodes without one is above the highest."""
        return len(self.forest.levels) if domain == ACROSS else self.forest.level_of[domain]

    def _children(self, domain: int) -> list[int]:
        """Child domains with any room, fullest first, then by name."""
        children = self.forest.roots if domain == ACROSS else self.forest.children[domain]
        useful = [child for child in children if self.tally.classes[child]]
        return sorted(useful, key=lambda child: (self.tally.free[child], self.forest.domains[child].name))

    def _own(self, domain: int) -> Sequence[int]:
        """Places of the nodes straight in a domain."""
        if domain == ACROSS:
            return range(self.forest.tree_size, len(self.tally.pairs) if self.loose else self.forest.tree_size)
        return self.forest.attached[domain]

    def _count(self, domain: int) -> _Counted:
        counted = self._counted.get(domain)
        if counted is None:
            parts = self._parts(domain)
            coarse = self._steps(parts) > self.budget
            tables = [Table([0], [])]
            for part in parts:
                tables.append(self._join(tables[-1], part.table, coarse=coarse))
            counted = self._counted[domain] = _Counted(parts, tables, coarse)
            self.exact = self.exact and not coarse
        return counted

    def _steps(self, parts: list[Part]) -> int:
        steps = total = 0
        for part in parts:
            total = min(total + len(part.table.plain), self._most + 1)
            steps += total * len(part.table.plain)
        return steps * 3 if self.load.leader else steps

    def _parts(self, domain: int) -> list[Part]:
        level = self._level(domain)
        parts = [Part(child, self._entered(child, level)) for child in self._children(domain)]
        if level:
            single = parts + self._single_nodes(domain, level)
            if domain != ACROSS or self._steps(single) <= self.budget:
                return single
            # Too many without a domain to tell apart: the fewest of them, not always the fullest.
            self.exact = False
        classes = self._attached(domain)
        if classes:
            parts.append(Part(NODES, self._nodes(classes, domain)))
        return parts

    def _single_nodes(self, domain: int, level: int) -> list[Part]:
        """Nodes attached above the lowest level: each is alone in its missing lower domains, so a part of its own.

        Of nodes with equal room only as many as the load can use.
        """
        parts: list[Part] = []
        equal: dict[Pair, int] = {}
        for place in sorted(self._own(domain), key=lambda p: (self.tally.pairs[p][0], self.forest.names[p])):
            workers, beside = self._pair(place, level)
            pair = self.tally.pairs[place]
            equal[pair] = equal.get(pair, 0) + 1
            if (workers or beside >= 0) and equal[pair] <= self._most // max(workers, 1) + 2:
                cost = self.costs.node + self.costs.edge(self.tally.pairs[place][0], 0, level)
                plain = [0] + [cost] * min(workers, self._most)
                led = [cost] * min(beside + 1, self._most + 1) if self.load.leader else []
                parts.append(Part(NODES, Table(plain, led), place))
        return parts

    def _entered(self, child: int, level: int) -> Table:
        """A child's table as seen from a domain of this level: the cost of using the child added, in its units."""
        low = self.forest.level_of[child]
        edge = self._edge(child, level)
        table = self._count(child).tables[-1]
        plain = [cost + edge if index else cost for index, cost in enumerate(table.plain)]
        led = [cost + edge for cost in table.led]
        if self.units is not None and self._changes(low, level):
            return self.units.table(plain, led)
        return Table(plain, led)

    def _edge(self, child: int, level: int) -> int:
        """Cost of using a child of a domain of this level."""
        return self.costs.edge(self.tally.free[child], self.forest.level_of[child], level)

    def _changes(self, low: int, high: int) -> bool:
        """Units change between these levels."""
        return self.units is not None and low <= self.units.level < high

    def _pair(self, place: int, level: int) -> Pair:
        pair = self.tally.pairs[place]
        return self.units.pair(pair) if self.units is not None and self._changes(_NODE, level) else pair

    def _attached(self, domain: int) -> dict[Pair, int]:
        """Classes of the nodes attached straight to the domain, in its units."""
        level = self._level(domain)
        if not self._changes(_NODE, level):
            if domain == ACROSS:
                return {pair: len(nodes) for pair, nodes in self.tally.loose.items()} if self.loose else {}
            if not self.forest.children[domain]:
                return self.tally.classes[domain]
        classes: dict[Pair, int] = {}
        for place in self._own(domain):
            pair = self._pair(place, level)
            if pair[0] or pair[1] >= 0:
                classes[pair] = classes.get(pair, 0) + 1
        return classes

    def _nodes(self, classes: dict[Pair, int], domain: int) -> Table:
        """Nodes straight in a domain of the lowest level, or without any domain."""
        level = self._level(domain)
        plain = self._row(coverage(classes, self._most + 1), level)
        led = self._row(led_coverage(classes, self._most + 1), level) if self.load.leader else []
        return Table(plain, led)

    def _row(self, covered: Sequence[int], level: int) -> list[int]:
        """Fewest nodes for every number of workers, as costs."""
        row: list[int] = []
        domains = sum(self.costs.domain[:level])
        slots = sum(self.costs.slot[:level])
        for k, workers in enumerate(covered):
            cost = k * (self.costs.node + domains) + workers * slots
            row += [cost] * (min(workers, self._most) + 1 - len(row))
        return row

    def _join(self, left: Table, right: Table, *, coarse: bool) -> Table:
        plain = self._sum(left.plain, right.plain, coarse=coarse)
        led = self._sum(left.led, right.plain, coarse=coarse)
        for index, cost in enumerate(self._sum(left.plain, right.led, coarse=coarse)):
            if index >= len(led):
                led.append(cost)
            elif cost < led[index]:
                led[index] = cost
        return Table(plain, led)

    def _sum(self, left: list[int], right: list[int], *, coarse: bool) -> list[int]:
        """Min-plus convolution, cut at the load."""
        if not left or not right:
            return []
        length = min(len(left) + len(right) - 1, self._most + 1)
        if coarse:
            return [_split(left, right, total, coarse=True)[0] for total in range(length)]
        backwards = right[::-1]
        return [_cheapest(left, backwards, total) for total in range(length)]

    # --- assigning down

    def seats(self, domain: int, load: Load | None = None) -> list[Seats]:
        """Nodes of the cheapest placement of a load (the whole one by default) below a domain."""
        load = self.load if load is None else load
        counted = self._count(domain)
        found: list[Seats] = []
        for part, (before, _) in zip(reversed(counted.parts), reversed(list(pairwise(counted.tables))), strict=True):
            taken = _share(before, part.table, load, coarse=counted.coarse)
            load = Load(load.workers - taken.workers, load.leader and not taken.leader)
            if taken.workers or taken.leader:
                found += self._assign(domain, part, taken)
        return found

    def _assign(self, domain: int, part: Part, load: Load) -> list[Seats]:
        level = self._level(domain)
        low = _NODE if part.child == NODES else self.forest.level_of[part.child]
        units = self.units if self._changes(low, level) else None
        if part.child != NODES:
            return self.seats(part.child, load if units is None else units.pods(load))
        if part.place >= 0:
            seats = [Seats(part.place, *load)]
            return seats if units is None else [_in_pods(seat, units) for seat in seats]
        pairs = {place: self._pair(place, level) for place in self._own(domain)}
        shares = choose(self._attached(domain), load.workers, leader=load.leader)
        seats = take_nodes(self.tally, pairs, shares)
        return seats if units is None else [_in_pods(seat, units) for seat in seats]


def _cheapest(left: list[int], backwards: list[int], total: int) -> int:
    """Cheapest cost of so many workers in two parts, the right one's costs given from the end."""
    last = len(backwards) - 1
    low, high = max(0, total - last), min(total, len(left) - 1)
    costs: Iterable[int] = map(add, left[low : high + 1], backwards[last - total + low :])
    return min(costs)


def _split(left: list[int], right: list[int], total: int, *, coarse: bool) -> tuple[int, int]:
    """Cheapest cost of so many workers in two parts, and what the right one takes of them (-1: impossible)."""
    low, high = max(0, total - len(left) + 1), min(total, len(right) - 1)
    best, at = INFINITE, -1
    candidates = (low, high) if coarse else range(low, high + 1)
    for taken in candidates:
        cost = left[total - taken] + right[taken]
        if cost < best:
            best, at = cost, taken
    return best, at


def _share(left: Table, right: Table, load: Load, *, coarse: bool) -> Load:
    """What the right part takes of the load in the cheapest split."""
    if not load.leader:
        return Load(_split(left.plain, right.plain, load.workers, coarse=coarse)[1], leader=False)
    with_leader = _split(left.plain, right.led, load.workers, coarse=coarse) if right.led else (INFINITE, -1)
    without = _split(left.led, right.plain, load.workers, coarse=coarse) if left.led else (INFINITE, -1)
    if with_leader[0] < without[0]:
        return Load(with_leader[1], leader=True)
    return Load(without[1], leader=False)


def _in_pods(seat: Seats, units: Units) -> Seats:
    load = units.pods(Load(seat.workers, seat.leader))
    return Seats(seat.place, load.workers, load.leader)


def take_nodes(tally: Tally, pairs: dict[int, Pair], shares: Sequence[Share]) -> list[Seats]:
    """Nodes for the shares, by name among nodes that are equal."""
    names = tally.forest.names
    by_class: dict[Pair, list[int]] = {share.pair: [] for share in shares}
    for place, pair in pairs.items():
        if pair in by_class:
            by_class[pair].append(place)
    queues = {pair: iter(sorted(found, key=names.__getitem__)) for pair, found in by_class.items()}
    return [Seats(next(queues[share.pair]), share.workers, share.leader) for share in shares]
