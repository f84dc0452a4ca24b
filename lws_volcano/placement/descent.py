"""A group in a domain that was not chosen, in a fraction of the time of `spread`: the rule of `pack` at every level.

From the top down, the fewest parts (child domains, nodes straight in the domain) that hold the pods, and of those the
smallest. `spread` weighs all levels together; here each is settled before the next, so what lies below the first level
may use a domain more than needed. Sub-groups are for `spread`.
"""

from collections.abc import Iterator

from lws_volcano.placement.pack import choose
from lws_volcano.placement.room import Pair
from lws_volcano.placement.spread import Load, Seats, take_nodes
from lws_volcano.placement.tally import NEVER, Tally

__all__ = ["descend"]


def descend(tally: Tally, domain: int, load: Load) -> list[Seats]:
    """Seats of the load below a domain; empty when it does not fit."""
    forest = tally.forest
    nodes = {place: pair for place in forest.attached[domain] if (pair := tally.pairs[place]) != (0, -1)}
    children = {child: _pair(tally, child) for child in forest.children[domain] if tally.classes[child]}
    classes: dict[Pair, int] = {}
    for pair in (*nodes.values(), *children.values()):
        classes[pair] = classes.get(pair, 0) + 1
    shares = choose(classes, load.workers, leader=load.leader)
    if not children:
        return take_nodes(tally, nodes, shares)
    parts: dict[Pair, Iterator[tuple[int, bool]]] = {pair: _alike(tally, pair, children, nodes) for pair in classes}
    seats: list[Seats] = []
    for share in shares:
        part, is_node = next(parts[share.pair])
        own = Load(share.workers, share.leader)
        seats += [Seats(part, *own)] if is_node else descend(tally, part, own)
    return seats


def _pair(tally: Tally, domain: int) -> Pair:
    free, loss = tally.free[domain], tally.loss[domain]
    return free, free - loss if loss < NEVER else -1


def _alike(tally: Tally, pair: Pair, children: dict[int, Pair], nodes: dict[int, Pair]) -> Iterator[tuple[int, bool]]:
    """Parts with this room, and whether each is a node: domains first, then by name."""
    forest = tally.forest
    yield from sorted(
        ((child, False) for child, room in children.items() if room == pair), key=lambda c: forest.domains[c[0]].name
    )
    yield from sorted(
        ((place, True) for place, room in nodes.items() if room == pair), key=lambda p: forest.names[p[0]]
    )
