"""One node: what it has, what is taken, and how many whole pods still fit. Integers in nano units throughout."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import QuantityError
from lws_volcano.api.quantity import NANO, parse_resources
from lws_volcano.placement.fits import excluded
from lws_volcano.placement.shape import Claim, Shape, clash

__all__ = ["NO_LEADER", "Pair", "Room"]

Pair = tuple[int, int]
"""Workers that fit on a node, and workers that fit beside a leader there (`NO_LEADER` when the leader does not fit)."""

NO_LEADER: Final = -1
_NOTHING: Final = (0, NO_LEADER)
_PODS: Final = "pods"
_USUAL_PODS: Final = 110
"""Slots of a node written by hand without `pods`: the kubelet's default."""


class Room:
    """A node's allocatable resources and what sits on it, known or expected.

    It exists before its node is seen (pods may come first) and then has no room.
    """

    __slots__ = ("_verdicts", "allocatable", "claims", "groups", "name", "node", "pod_limit", "pods", "used", "version")

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: Node | None = None
        self.allocatable: dict[str, int] = {}
        self.pod_limit = 0
        self.used: dict[str, int] = {}
        self.pods = 0
        self.claims: Counter[Claim] = Counter()
        self.groups: Counter[str] = Counter()
        self.version = 0
        self._verdicts: dict[Shape, str] = {}

    def describe(self, node: Node | None) -> None:
        """Take over what the node says of itself; None when it is gone.

        Raises
        ------
        QuantityError
            An allocatable value is no quantity; `where` names node and resource.
        """
        allocatable, limit = ({}, 0) if node is None else _offered(node)
        self.node, self.allocatable, self.pod_limit = node, allocatable, limit
        self._verdicts.clear()
        self.version += 1

    def take(self, shape: Shape, group: str = "") -> None:
        """A pod of this shape sits here."""
        self._add(shape.requests, 1)
        self.claims.update(shape.claims)
        if group:
            self.groups[group] += 1

    def give(self, shape: Shape, group: str = "") -> None:
        """The reverse of `take`."""
        self._add(shape.requests, -1)
        for claim in shape.claims:
            self.claims[claim] -= 1
            if not self.claims[claim]:
                del self.claims[claim]
        if group:
            self.groups[group] -= 1
            if not self.groups[group]:
                del self.groups[group]

    def _add(self, requests: Iterable[tuple[str, int]], sign: int) -> None:
        self.pods += sign
        for name, nano in requests:
            self.used[name] = self.used.get(name, 0) + sign * nano

    def why_not(self, shape: Shape) -> str:
        """Why the node is out for this shape whatever room it has; empty when it is not."""
        verdict = self._verdicts.get(shape)
        if verdict is None:
            verdict = "no such node" if self.node is None else excluded(self.node, shape)
            self._verdicts[shape] = verdict
        return verdict

    def slots(self, shape: Shape) -> int:
        """Whole pods of this shape that fit now."""
        return 0 if self.why_not(shape) else self._count(shape)

    def pair(self, leader: Shape, worker: Shape) -> Pair:
        """Workers that fit alone, and beside one leader."""
        workers = self.slots(worker)
        if leader is worker or leader == worker:
            return (workers, workers - 1) if workers else _NOTHING
        if self.why_not(leader) or not self._count(leader):
            return (workers, NO_LEADER) if workers else _NOTHING
        if not workers or leader.apart_from(worker):
            return (workers, 0)
        return (workers, self._count(worker, dict(leader.requests), 1))

    def ceiling(self, shape: Shape) -> int:
        """Whole pods that would fit if nothing sat here."""
        if self.why_not(shape):
            return 0
        count = min((self.allocatable.get(name, 0) // asked for name, asked in shape.requests), default=self.pod_limit)
        count = min(count, self.pod_limit)
        return min(count, 1) if shape.claims else count

    def _count(self, shape: Shape, beside: Mapping[str, int] | None = None, pods: int = 0) -> int:
        count = self.pod_limit - self.pods - pods
        allocatable, used = self.allocatable, self.used
        for name, asked in shape.requests:
            free = allocatable.get(name, 0) - used.get(name, 0)
            if beside:
                free -= beside.get(name, 0)
            count = min(count, free // asked)
        if count <= 0:
            return 0
        if shape.claims:
            return 0 if any(clash(held, claim) for held in self.claims for claim in shape.claims) else 1
        return count

    def scarcest(self, shape: Shape) -> str:
        """The resource that runs out first when pods of this shape are added."""
        free = [(self.pod_limit - self.pods, "pod slots")]
        free += [((self.allocatable.get(n, 0) - self.used.get(n, 0)) // asked, n) for n, asked in shape.requests]
        return min(free)[1]

    def short_of(self, shape: Shape) -> str:
        """The first resource of which too little is left for one pod; empty when one fits."""
        if self.pod_limit - self.pods < 1:
            return "pod slots"
        for name, asked in shape.requests:
            if self.allocatable.get(name, 0) - self.used.get(name, 0) < asked:
                return name
        taken = shape.claims and any(clash(held, claim) for held in self.claims for claim in shape.claims)
        return "host port" if taken else ""


def _offered(node: Node) -> tuple[dict[str, int], int]:
    raw = node.status.allocatable or node.status.capacity
    try:
        offered = parse_resources(raw)
    except QuantityError as error:
        raise QuantityError(error.what, where=f"node {node.name}, {error.where}", mend=error.mend) from None
    return offered, offered.pop(_PODS, _USUAL_PODS * NANO) // NANO
