"""The rank window: what a pod's preferred terms say about nodes.

For every domain where the group may land there is a sequence: the distinct nodes planned for its ranks, then spares.
A pod prefers the node planned for its rank, less the next ones of the sequence, and in the same proportion those of
every other domain. So neighbouring ranks follow the sequence wherever the scheduler puts the group, and a node that was
lost since shifts the ranks behind it: an earlier rank's node is never in a later rank's window.

Notes
-----
The scheduler adds the weights of all terms that match a node and scales the sums to the best node that still fits, so
only ratios count: the fall by half makes a clear step wherever the window stands. Measured in docs/hints.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

__all__ = ["SPARES", "Landing", "Weighted", "window"]

_CHOSEN: Final = (100, 50, 25, 13)
"""Weights of a rank's node and the next ones in the planned domain; 100 is the most that Kubernetes takes."""
_OTHERS: Final = (8, 4, 2, 1)
"""The same in all other domains: below the planned one where nothing but preferences chooses."""
SPARES: Final = len(_CHOSEN) - 1
"""Spare nodes that the window of the last rank needs."""

Weighted = tuple[int, tuple[str, ...]]
"""Weight of a term, and the nodes that it lists."""


@dataclass(frozen=True, slots=True)
class Landing:
    """A domain where a group may land.

    Attributes
    ----------
    domain
        Its name; empty for a group over several trees and without a topology.
    nodes
        Planned node by rank.
    spares
        Other nodes with room, the ones to take first first.
    """

    domain: str
    nodes: tuple[str, ...]
    spares: tuple[str, ...] = ()

    def window(self, rank: int) -> tuple[str, ...]:
        """The node of a rank and those after it."""
        ahead = dict.fromkeys((*self.nodes[rank:], *self.spares))
        return tuple(islice(ahead, len(_CHOSEN)))


def window(landings: Sequence[Landing], rank: int) -> list[Weighted]:
    """Terms of one rank, heaviest first; the first landing is the planned one."""
    if not landings or rank >= len(landings[0].nodes):
        return []
    terms: list[Weighted] = [(weight, (node,)) for weight, node in zip(_CHOSEN, landings[0].window(rank), strict=False)]
    others = [landing.window(rank) for landing in landings[1:]]
    for step, weight in enumerate(_OTHERS):
        nodes = dict.fromkeys(ahead[step] for ahead in others if step < len(ahead))
        if nodes:
            terms.append((weight, tuple(nodes)))
    return terms
