"""The order of what is best, as one integer per choice.

From the most to the least significant: domains used at each level, from the highest; free slots of the domains used,
from the highest level down (the fullest domain that still fits); nodes used (with the domains settled, the ring cost
grows with nothing else). All of them add up over disjoint parts of a tree, and adding keeps the order, so an exact
minimum can be built from the parts.

Notes
-----
Ring cost: a tour over leaves of a tree whose bandwidth falls with every tier leaves each used domain at least once when
it uses more than one of its level; depth-first order leaves each exactly once. So the best ring is a function of the
numbers of domains and nodes used alone.
"""

from typing import Final

__all__ = ["INFINITE", "Costs"]

_COUNT: Final = 20
"""Bits for pods, domains and nodes."""
_SLOTS: Final = 44
"""Bits for free slots."""
INFINITE: Final = 1 << 2000


class Costs:
    """Weights of one forest's levels.

    Attributes
    ----------
    node
        Cost of one more node.
    domain
        Level -> cost of one more domain.
    slot
        Level -> cost of one free slot of a used domain.
    """

    def __init__(self, levels: int) -> None:
        self.node = 1
        shift = _COUNT
        self.slot: list[int] = []
        for _ in range(levels):
            self.slot.append(1 << shift)
            shift += _SLOTS
        self.domain: list[int] = []
        for _ in range(levels):
            self.domain.append(1 << shift)
            shift += _COUNT

    def edge(self, free: int, low: int, high: int) -> int:
        """Cost of using a part of a tree that has `free` slots: one domain at each level from `low` to below `high`."""
        return sum(self.domain[level] + free * self.slot[level] for level in range(low, high))
