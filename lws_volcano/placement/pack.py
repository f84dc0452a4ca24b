"""Nodes of one domain that are equally near to each other: fewest nodes first, and the big ones kept whole.

Nodes are known by class: a pair (workers that fit, workers that fit beside a leader) and how many nodes have it.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from lws_volcano.placement.room import Pair

__all__ = ["Share", "choose", "coverage", "fewest", "led_coverage"]


class Share(NamedTuple):
    """What one chosen node takes."""

    pair: Pair
    workers: int
    leader: bool


def _descending(classes: Mapping[Pair, int], most: int) -> list[Pair]:
    """The `most` nodes with most worker slots, one entry a node."""
    nodes: list[Pair] = []
    for pair in sorted(classes, reverse=True):
        if pair[0] <= 0 or len(nodes) >= most:
            break
        nodes += [pair] * min(classes[pair], most - len(nodes))
    return nodes


def coverage(classes: Mapping[Pair, int], most: int) -> list[int]:
    """Workers that the best k nodes take, for k = 0 … `most` (or as many nodes as there are)."""
    return [0, *accumulate(pair[0] for pair in _descending(classes, most))]


def led_coverage(classes: Mapping[Pair, int], most: int) -> list[int]:
    """Workers that the best k nodes take with a leader on one of them; -1 for k = 0, and where no node takes one."""
    nodes = _descending(classes, most)
    plain = [0, *accumulate(pair[0] for pair in nodes)]
    position: dict[Pair, int] = {}
    for index, pair in enumerate(nodes):
        position.setdefault(pair, index)
    leaders = [pair for pair in classes if pair[1] >= 0]
    counts = range(1, len(plain) + 1)
    return [-1, *(max((_led(pair, k, plain, position) for pair in leaders), default=-1) for k in counts)]


def _led(leader: Pair, k: int, plain: Sequence[int], position: Mapping[Pair, int]) -> int:
    """Most workers on k nodes when the leader's is of this class."""
    workers, beside = leader
    if leader not in position:
        return plain[min(k - 1, len(plain) - 1)] + beside
    if k < len(plain) and position[leader] >= k:
        return plain[k - 1] + beside
    return plain[min(k, len(plain) - 1)] - workers + beside


def fewest(covered: Sequence[int], workers: int) -> int | None:
    """Smallest k that covers so many workers, None when none does."""
    return next((k for k, most in enumerate(covered) if most >= workers), None)


def choose(classes: Mapping[Pair, int], workers: int, *, leader: bool) -> list[Share]:
    """Fewest nodes for so many workers (and the leader), then those with the fewest slots.

    Returns an empty list when they do not fit.

    Examples
    --------
    >>> [share.pair[0] for share in choose({(8, 7): 1, (5, 4): 1, (4, 3): 1}, 9, leader=False)]
    [4, 5]
    """
    most = workers + leader
    if not leader:
        return _plain(classes, workers, fewest(coverage(classes, most), workers))
    k = fewest(led_coverage(classes, most), workers)
    best: list[Share] = []
    for pair in sorted(classes):
        if k is None or pair[1] < 0:
            continue
        shares = _beside(classes, workers, k, pair)
        if shares and (not best or _size(shares) < _size(best)):
            best = shares
    return best


def _beside(classes: Mapping[Pair, int], workers: int, k: int, leader: Pair) -> list[Share]:
    """The leader on a node of this class, the rest on k - 1 others."""
    rest = dict(classes)
    rest[leader] -= 1
    first = min(leader[1], workers)
    if first == workers:
        return [Share(leader, first, leader=True)] if k >= 1 else []
    others = _plain(rest, workers - first, k - 1)
    return [Share(leader, first, leader=True), *others] if others else []


def _size(shares: Sequence[Share]) -> tuple[int, int]:
    return len(shares), sum(share.pair[0] for share in shares)


def _plain(classes: Mapping[Pair, int], workers: int, k: int | None) -> list[Share]:
    """K nodes that cover the workers, each the smallest that leaves the rest coverable."""
    if k is None or workers <= 0:
        return []
    left = {pair: count for pair, count in classes.items() if pair[0] > 0 and count > 0}
    if len(left) == 1:
        ((only, count),) = left.items()
        return _deal([only] * k, workers) if count >= k and only[0] * k >= workers else []
    pairs: list[Pair] = []
    remaining = workers
    for slots in range(k, 0, -1):
        pair = _smallest(left, remaining, slots - 1)
        if pair is None:
            return []
        pairs.append(pair)
        remaining -= pair[0]
        left[pair] -= 1
        if not left[pair]:
            del left[pair]
    return _deal(pairs, workers)


def _smallest(left: Mapping[Pair, int], remaining: int, others: int) -> Pair | None:
    """Smallest class that, with the `others` biggest nodes beside it, covers what remains."""
    top = _descending(left, others + 1)
    plain = [0, *accumulate(pair[0] for pair in top)]
    for pair in sorted(left):
        inside = others < len(top) and pair[0] >= top[others][0]
        beside = plain[min(others + 1, len(top))] - pair[0] if inside else plain[min(others, len(top))]
        if pair[0] + beside >= remaining:
            return pair
    return None


def _deal(pairs: Sequence[Pair], workers: int) -> list[Share]:
    """Fill the smaller nodes to the brim; what is left over stays on the biggest."""
    shares: list[Share] = []
    for pair in sorted(pairs):
        taken = min(pair[0], workers)
        workers -= taken
        if taken:
            shares.append(Share(pair, taken, leader=False))
    return shares
