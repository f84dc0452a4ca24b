"""How far ranks are from each other: ring cost, exact."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm

from lws_volcano.placement.forest import Forest
from lws_volcano.topology.model import ACROSS

__all__ = ["Ring"]


class Ring:
    """Costs of hops in one forest, as whole numbers of a unit in which all of them are whole.

    A hop costs 1 / bandwidth in GB/s of the tier where two nodes meet, nothing on one node.
    """

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        topology = forest.topology
        bandwidths = [tier.bandwidth for tier in topology.tier_of] if topology else []
        bandwidths.append(topology.across_bandwidth if topology else Fraction(1))
        self.unit = lcm(*(bandwidth.numerator for bandwidth in bandwidths))
        costs = [int(self.unit / bandwidth) for bandwidth in bandwidths]
        self._across = costs.pop()
        self._costs = costs

    def hop(self, left: int, right: int) -> int:
        """Cost between two places."""
        if left == right:
            return 0
        meeting = self.forest.meeting(left, right)
        return self._across if meeting == ACROSS else self._costs[meeting]

    def cost(self, places: Sequence[int]) -> int:
        """Cost of the ring over the ranks' places, in units; nothing for one rank."""
        return sum(self.hop(left, right) for left, right in pairwise((*places, places[0]))) if places else 0

    def exact(self, places: Sequence[int]) -> Fraction:
        """The same in s/GB."""
        return Fraction(self.cost(places), self.unit)
