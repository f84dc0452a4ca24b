"""A plain fleet of equal nodes in racks under spines, and what is free on it: the ground all baselines play on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Protocol

__all__ = ["GPUS", "Fleet", "Placer", "Request"]

GPUS = 8
RACKS_PER_SPINE = 20
RACK_HOP, SPINE_HOP, ACROSS_HOP = 1 / 100, 1 / 50, 1 / 50


@dataclass(frozen=True, slots=True)
class Request:
    """A group: pods of so many GPUs each, kept to one rack or not."""

    pods: int
    gpus: int
    hard: bool = False


@dataclass(slots=True)
class Fleet:
    """Nodes `n00000`, `n00001` …, `rack_size` of them a rack, 20 racks a spine."""

    nodes: int
    rack_size: int = 16
    free: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.free = [GPUS] * self.nodes

    @property
    def racks(self) -> int:
        """Number of racks."""
        return -(-self.nodes // self.rack_size)

    @property
    def spines(self) -> int:
        """Number of spines."""
        return -(-self.racks // RACKS_PER_SPINE)

    def rack(self, node: int) -> int:
        """Rack of a node."""
        return node // self.rack_size

    def spine(self, node: int) -> int:
        """Spine of a node."""
        return self.rack(node) // RACKS_PER_SPINE

    def members(self, rack: int) -> range:
        """Nodes of a rack."""
        return range(rack * self.rack_size, min((rack + 1) * self.rack_size, self.nodes))

    def spine_members(self, spine: int) -> range:
        """Nodes of a spine."""
        size = RACKS_PER_SPINE * self.rack_size
        return range(spine * size, min((spine + 1) * size, self.nodes))

    def domains(self) -> Iterator[list[range]]:
        """Node ranges of every tier, closest first: nodes, racks, spines, everything."""
        yield [range(node, node + 1) for node in range(self.nodes)]
        yield [self.members(rack) for rack in range(self.racks)]
        yield [self.spine_members(spine) for spine in range(self.spines)]
        yield [range(self.nodes)]

    def slots(self, nodes: range, gpus: int) -> int:
        """Whole pods that fit on these nodes."""
        return sum(self.free[node] // gpus for node in nodes)

    def occupy(self, share: float, random: Random) -> None:
        """Take a share of the nodes whole, at random."""
        for node in random.sample(range(self.nodes), round(share * self.nodes)):
            self.free[node] = 0

    def take(self, places: list[int], gpus: int) -> None:
        """Put one pod on each place."""
        for node in places:
            self.free[node] -= gpus
            if self.free[node] < 0:
                raise ValueError(f"node {node} is overcommitted")

    def tier(self, places: list[int]) -> int:
        """0 on one node, 1 in a rack, 2 in a spine, 3 across."""
        if len(set(places)) == 1:
            return 0
        if len({self.rack(node) for node in places}) == 1:
            return 1
        return 2 if len({self.spine(node) for node in places}) == 1 else 3

    def ring(self, places: list[int]) -> float:
        """Ring cost of places by rank."""
        hops = (0.0, RACK_HOP, SPINE_HOP, ACROSS_HOP)
        return sum(hops[self.tier([left, right])] for left, right in pairwise((*places, places[0])))


class Placer(Protocol):
    """A way to place groups: nodes by rank, or None."""

    def __call__(self, fleet: Fleet, request: Request, random: Random) -> list[int] | None:
        """Place one group; the fleet is left as it is."""
        ...
