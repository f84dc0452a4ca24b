"""Pods that have a node, as far as they matter: they take room.

A cluster has far more of these than pods of LeaderWorkerSets; each is kept in a few hundred bytes, and what equal pods
take is kept once.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lws_volcano.api.errors import QuantityError
from lws_volcano.api.pods import Pod
from lws_volcano.placement.capacity import Seat, seat_of
from lws_volcano.placement.shape import Shape

__all__ = ["AssignedPod", "AssignedPods"]


class AssignedPod(NamedTuple):
    """What a bound pod takes from its node."""

    key: str
    uid: str
    seat: Seat


class AssignedPods:
    """Reads pods into their slim form."""

    def __init__(self) -> None:
        self._shapes: dict[Shape, Shape] = {}
        self._words: dict[str, str] = {}

    def parse(self, raw: Mapping[str, Any]) -> AssignedPod | None:
        """The slim form; None for a pod without a node, or one that takes nothing any more."""
        pod = Pod.parse(raw)
        if not pod.bound or pod.finished:
            return None
        try:
            seat = seat_of(pod)
        except QuantityError:
            # The API server has checked it; a quantity beyond our range must not stop the watch.
            seat = Seat(pod.spec.node_name, Shape(), "", None)
        return AssignedPod(pod.key, pod.uid, self._intern(seat))

    def _intern(self, seat: Seat) -> Seat:
        # Where the pod might have gone instead does not matter any more.
        bare = Shape(requests=seat.shape.requests, claims=seat.shape.claims)
        shape = self._shapes.setdefault(bare, bare)
        return Seat(self._word(seat.node), shape, self._word(seat.group_key), seat.member, self._word(seat.alone_on))

    def _word(self, word: str) -> str:
        return self._words.setdefault(word, word)
