"""What no placement can beat: to say how far a search that was cut short may be from the best."""

from collections.abc import Sequence

from lws_volcano.placement.quality import domains_used
from lws_volcano.placement.tally import Tally

__all__ = ["fewest_domains"]


def fewest_domains(tally: Tally, domain: int, workers: int, members: Sequence[int] = ()) -> list[int]:
    """Lower bounds of the domains used at each level, closest first, by a group inside `domain` (or anywhere).

    So many workers are still to be placed, `members` are the places of those that stay.
    The roomiest domains of a level are taken until the workers fit; how domains hang together is left out, so the true
    minimum may be larger.
    """
    forest = tally.forest
    bounds: list[int] = []
    for level, used in enumerate(domains_used(forest, members)):
        free = [tally.free[index] for *_, index in tally.order[level] if forest.inside(index, domain)]
        free += [tally.pairs[place][0] for place in forest.high if forest.level_of[forest.home(place)] > level]
        bounds.append(max(_fewest(sorted(free, reverse=True), workers), used))
    return bounds


def _fewest(free: list[int], workers: int) -> int:
    left = workers
    for count, most in enumerate(free, start=1):
        left -= most
        if left <= 0:
            return count
    return max(len(free), 1)
