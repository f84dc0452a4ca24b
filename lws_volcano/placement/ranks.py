"""From seats to ranks: the order of least ring cost, the leader first.

Depth-first order is the best ring there is (see `cost`); it starts in the leader's own branch, so that rank 0 is the
leader and low ranks are near it. Sub-groups come out consecutive, because each sits whole in one branch.
"""

from collections.abc import Iterable

from lws_volcano.placement.forest import Forest
from lws_volcano.placement.spread import Seats
from lws_volcano.topology.model import ACROSS

__all__ = ["by_rank", "nearness"]


def nearness(forest: Forest, origin: int, place: int) -> tuple[int, int]:
    """Sort key: the origin itself, then its lowest domain, then outwards; depth-first within each."""
    if place == origin:
        return -1 << 30, place
    meeting = forest.meeting(origin, place)
    depth = -1 if meeting == ACROSS or forest.topology is None else forest.topology.depth[meeting]
    return -depth, place


def by_rank(forest: Forest, seats: Iterable[Seats]) -> list[int]:
    """Place of every rank.

    Without a leader among the seats (leader and workers look the same) the first place takes it.
    """
    listed = sorted(seats)
    origin = next((seat.place for seat in listed if seat.leader), listed[0].place)
    pods: dict[int, int] = {}
    for seat in listed:
        pods[seat.place] = pods.get(seat.place, 0) + seat.workers + seat.leader
    if forest.home(listed[0].place) == forest.home(listed[-1].place) != ACROSS:
        order = [origin, *(place for place in pods if place != origin)]
    else:
        order = sorted(pods, key=lambda place: nearness(forest, origin, place))
    return [place for place in order for _ in range(pods[place])]
