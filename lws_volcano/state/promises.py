"""Groups that were planned and are not bound yet hold their place, on every replica, and not for ever.

The replica that planned a group holds its place at once; the others, and one that was just started, read the plan from
the leader pod. A place is given up as its pods are bound (`Capacity` does that), when the group has no pod any more
that waits, and after `HOLD` in any case: something else than room keeps such a group.
"""

from collections.abc import Callable
from typing import Any, Final

import structlog

from lws_volcano.api.errors import InputError
from lws_volcano.api.names import GROUP_NAME, PLAN
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.plan_format import read_annotation
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.demands import demand_of
from lws_volcano.state.kinds import BY_GROUP, Kind
from lws_volcano.state.store import Difference

__all__ = ["GRACE", "HOLD", "Promises"]

_log = structlog.get_logger(__name__)

GRACE: Final = 30.0
"""Seconds in which the pods of a group that was just planned must show up."""
HOLD: Final = 600.0
"""Seconds after which a place is given up whatever its group does."""


class Promises:
    """Holds and lets go.

    Parameters
    ----------
    capacity
        The capacity of this replica, None while it is not known.
    """

    def __init__(self, cluster: Cluster, settings: Settings, capacity: Callable[[], Capacity | None]) -> None:
        self._cluster = cluster
        self._settings = settings
        self._capacity = capacity
        self._since: dict[str, float] = {}
        self._broken: dict[str, str] = {}
        cluster.listen(self._changed)

    def take_over(self) -> None:
        """Read the plans of all leaders that wait: the capacity was not known when they came."""
        for pod in self._cluster.kinds.pods.store:
            self._hold(pod)

    def sweep(self, now: float) -> list[str]:
        """Give up what nobody waits for any more; gives the keys of those groups. `now` is monotonic, in seconds."""
        capacity = self._capacity()
        if capacity is None:
            return []
        held = capacity.reservations()
        self._since = {key: self._since.get(key, now) for key in held}
        given_up = [key for key in held if self._over(key, now - self._since[key])]
        for key in given_up:
            capacity.release(key)
        return given_up

    def _over(self, key: str, age: float) -> bool:
        pods = self._cluster.kinds.pods.store.by(BY_GROUP, key)
        if age > HOLD:
            # The leader that waits is not to hold it again.
            self._broken[key] = next((pod.uid for pod in pods if PLAN in pod.metadata.annotations), "")
            return True
        return age > GRACE and not any(_waits(pod) for pod in pods)

    def _changed(self, kind: Kind[Any], difference: Difference[Any]) -> None:
        if kind is not self._cluster.kinds.pods:
            return
        if difference.new is not None:
            self._hold(difference.new)
        else:
            self._let_go(difference.either)

    def _hold(self, pod: Pod) -> None:
        key = _promised(pod)
        capacity = self._capacity()
        if not key or not _waits(pod) or capacity is None or capacity.reserved(key):
            return
        if self._broken.get(key) == pod.uid:
            return
        try:
            note = read_annotation(pod.metadata.annotations[PLAN])
            demand = demand_of(self._cluster, self._settings, pod) if note.feasible else None
        except InputError as error:
            _log.warning("plan not held", pod=pod.key, error=str(error))
            return
        if demand is not None and len(note.nodes) == demand.size:
            capacity.reserve(demand, dict(enumerate(note.nodes)))

    def _let_go(self, pod: Pod) -> None:
        """A leader has gone; a later one of the same group may hold the place already, by another plan."""
        key = _promised(pod)
        capacity = self._capacity()
        if not key or capacity is None:
            return
        self._broken.pop(key, None)
        held = capacity.reserved(key)
        try:
            nodes = read_annotation(pod.metadata.annotations[PLAN]).nodes
        except InputError:
            return
        if held and all(rank < len(nodes) and nodes[rank] == node for rank, node in held.items()):
            capacity.release(key)


def _promised(pod: Pod) -> str:
    """Key of the group whose plan a pod carries; empty for any other pod."""
    annotations = pod.metadata.annotations
    name = annotations.get(GROUP_NAME, "")
    return f"{pod.namespace}/{name}" if name and PLAN in annotations else ""


def _waits(pod: Pod) -> bool:
    return not pod.bound and not pod.finished and not pod.terminating
