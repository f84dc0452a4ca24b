"""Which rank gets which of the chosen nodes, when other ranks of the ring stay where they are."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, permutations
from typing import Final

from lws_volcano.placement.ranks import nearness
from lws_volcano.placement.ring import Ring

__all__ = ["seated"]

_EVERY_ORDER: Final = 5
"""Ranks of which every order is tried."""
_EXCHANGES: Final = 2000


def seated(ring: Ring, at: Mapping[int, int], ranks: Sequence[int], slots: Sequence[int]) -> dict[int, int]:
    """Places of the ranks, of little ring cost among those in `at`: every order for few, exchanges of two for many."""
    origin = at.get(0, next(iter(at.values())))
    near = sorted(slots, key=lambda place: nearness(ring.forest, origin, place))
    if len(near) <= _EVERY_ORDER:
        orders = ({**at, **dict(zip(ranks, order, strict=True))} for order in permutations(near))
        best = min(orders, key=lambda order: ring.cost([order[rank] for rank in sorted(order)]))
    else:
        best = _exchanged(ring, {**at, **dict(zip(ranks, near, strict=True))}, ranks)
    return {rank: best[rank] for rank in ranks}


def _exchanged(ring: Ring, at: dict[int, int], ranks: Sequence[int]) -> dict[int, int]:
    order = sorted(at)
    index = {rank: position for position, rank in enumerate(order)}
    places = [at[rank] for rank in order]
    for left, right in islice(combinations([index[rank] for rank in ranks], 2), _EXCHANGES):
        if places[left] == places[right]:
            continue
        touched = set(_hops(left, len(order))) | set(_hops(right, len(order)))
        before = sum(ring.hop(places[i], places[j]) for i, j in touched)
        places[left], places[right] = places[right], places[left]
        if sum(ring.hop(places[i], places[j]) for i, j in touched) >= before:
            places[left], places[right] = places[right], places[left]
    return dict(zip(order, places, strict=True))


def _hops(position: int, size: int) -> Iterator[tuple[int, int]]:
    yield (position - 1) % size, position
    yield position, (position + 1) % size
