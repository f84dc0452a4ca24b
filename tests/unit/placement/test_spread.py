"""The parts of the search: packing equal nodes, spreading over a tree past the exact budget, and level by level.

Optimality of whole plans is in `test_optimum`; here are the promises of the parts alone.
"""

from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.bounds import fewest_domains
from lws_volcano.placement.cost import INFINITE
from lws_volcano.placement.descent import descend
from lws_volcano.placement.pack import choose, coverage, fewest, led_coverage
from lws_volcano.placement.quality import domains_used
from lws_volcano.placement.ranks import by_rank
from lws_volcano.placement.room import Pair
from lws_volcano.placement.spread import Load, Spread
from tests.unit.placement.builders import capacity, shape

PAIRS = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda p: (p[0], min(p) if p[1] < 5 else -1))
NODES = st.lists(PAIRS, max_size=6)


def classes_of(nodes: list[Pair]) -> dict[Pair, int]:
    """Histogram of nodes, full ones left out."""
    return {pair: nodes.count(pair) for pair in nodes if pair != (0, -1)}


def smallest(nodes: list[Pair], workers: int, *, leader: bool) -> tuple[int, int] | None:
    """Fewest nodes, then fewest slots, by trying all sets of nodes and all nodes for the leader."""
    best: tuple[int, int] | None = None
    for count in range(1, len(nodes) + 1):
        for chosen in combinations(nodes, count):
            homes = [pair for pair in chosen if pair[1] >= 0] if leader else [(0, 0)]
            room = max((sum(p[0] for p in chosen) - home[0] + home[1] for home in homes), default=-1)
            if room >= workers and (best is None or (count, sum(p[0] for p in chosen)) < best):
                best = count, sum(p[0] for p in chosen)
    return best


@given(nodes=NODES, workers=st.integers(1, 12), leader=st.booleans())
@settings(max_examples=500, deadline=None)
def test_packing_takes_the_fewest_nodes(nodes: list[Pair], workers: int, leader: bool) -> None:
    """And the counts beforehand say how many those are."""
    classes = classes_of(nodes)
    shares = choose(classes, workers, leader=leader)
    wanted = smallest(nodes, workers, leader=leader)
    count = fewest((led_coverage if leader else coverage)(classes, workers + 1), workers)
    assert (len(shares) or None) == count == (wanted[0] if wanted else None)
    if shares:
        assert sum(share.workers for share in shares) == workers
        assert sum(share.leader for share in shares) == leader
        for share in shares:
            assert share.workers <= share.pair[1 if share.leader else 0]


@st.composite
def spines(draw: st.DrawFn) -> dict[str, Any]:
    """One spine of two to five racks."""
    racks = draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=2, max_size=5))
    return {"s": {f"r{r}": {f"n{r}-{i}": free for i, free in enumerate(nodes)} for r, nodes in enumerate(racks)}}


@given(tree=spines(), workers=st.integers(1, 14))
@settings(max_examples=300, deadline=None)
def test_past_the_budget_the_nearest_level_is_still_right(tree: dict[str, Any], workers: int) -> None:
    """A search cut short uses as few racks as the exact one, and the lower bound is below both."""
    room = capacity(tree)
    tally = room.tally(shape(), shape())
    exact, short = (Spread(tally, Load(workers, leader=False), budget=budget) for budget in (10**9, 0))
    assert (exact.cost(0) < INFINITE) == (short.cost(0) < INFINITE) == (tally.free[0] >= workers)
    if tally.free[0] < workers:
        return
    assert exact.exact
    assert not short.exact
    used = [domains_used(room.forest, by_rank(room.forest, spread.seats(0))) for spread in (exact, short)]
    assert used[0] == used[1]
    assert fewest_domains(tally, 0, workers - 1)[0] <= used[0][0]
    seats = short.seats(0)
    assert sum(seat.workers for seat in seats) == workers
    assert all(seat.workers <= tally.pairs[seat.place][0] for seat in seats)


@given(tree=spines(), workers=st.integers(1, 14), worker=st.integers(1, 2), leader=st.integers(0, 2))
@settings(max_examples=400, deadline=None)
def test_level_by_level_uses_as_few_racks(tree: dict[str, Any], workers: int, worker: int, leader: int) -> None:
    """Whole pods, all of them or none, in as few racks as the exact search; leader 0: it looks like a worker."""
    room = capacity(tree)
    tally = room.tally(shape(leader or worker), shape(worker))
    load = Load(workers, leader=leader > 0)
    spread, seats = Spread(tally, load), descend(tally, 0, load)
    assert bool(seats) == (spread.cost(0) < INFINITE)
    if not seats:
        return
    assert (sum(seat.workers for seat in seats), sum(seat.leader for seat in seats)) == load
    assert len({seat.place for seat in seats}) == len(seats)
    assert all(seat.workers <= tally.pairs[seat.place][1 if seat.leader else 0] for seat in seats)
    racks = [domains_used(room.forest, by_rank(room.forest, found))[0] for found in (seats, spread.seats(0))]
    assert racks[0] == racks[1]
