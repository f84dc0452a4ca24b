"""Since when groups that are held to a place have none there, although there is one elsewhere.

A leader with placement `required`, one of a placement group, or one that is placed before its workers, carries the
nodes that it may go to. Which they are is read from the pod itself: the same planner is asked for the group with and
without that restriction.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from lws_volcano.api.errors import InputError
from lws_volcano.api.names import GROUP_NAME, PLAN
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.plan_format import Note, read_annotation
from lws_volcano.placement.planner import plan_group
from lws_volcano.placement.shape import pod_shape
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.demands import demand_of
from lws_volcano.state.kinds import BY_LWS

__all__ = ["FRESH", "Places"]

FRESH: Final = timedelta(seconds=10)
"""For so long an answer is good: each costs a walk over the nodes."""


class _Answer(NamedTuple):
    leader: str
    at: datetime
    lost: datetime | None


class Places:
    """Asks, and remembers since when."""

    def __init__(self, cluster: Cluster, settings: Settings, capacity: Callable[[], Capacity | None]) -> None:
        self._cluster = cluster
        self._settings = settings
        self._capacity = capacity
        self._answers: dict[str, _Answer] = {}

    def of(self, lws: str, now: datetime) -> Mapping[str, datetime | None]:
        """PodGroup name -> since when its place is lost, None while it is not; only groups that wait for a place."""
        capacity = self._capacity()
        if capacity is None:
            return {}
        found: dict[str, datetime | None] = {}
        for pod in self._cluster.kinds.pods.store.by(BY_LWS, lws):
            if _is_held(pod):
                key = f"{pod.namespace}/{pod.metadata.annotations[GROUP_NAME]}"
                found[pod.metadata.annotations[GROUP_NAME]] = self._since(key, pod, capacity, now)
            elif PLAN in pod.metadata.annotations:
                self._answers.pop(f"{pod.namespace}/{pod.metadata.annotations.get(GROUP_NAME, '')}", None)
        return found

    def _since(self, key: str, leader: Pod, capacity: Capacity, now: datetime) -> datetime | None:
        before = self._answers.get(key)
        if before is not None and before.leader == leader.uid and now - before.at < FRESH:
            return before.lost
        lost = None
        if self._is_lost(leader, capacity):
            lost = before.lost if before is not None and before.leader == leader.uid and before.lost else now
        self._answers[key] = _Answer(leader.uid, now, lost)
        return lost

    def _is_lost(self, leader: Pod, capacity: Capacity) -> bool:
        try:
            demand = demand_of(self._cluster, self._settings, leader)
            if demand is None:
                return False
            held = _held_to(demand, leader)
            return not plan_group(held, capacity, alternatives=1).feasible and bool(
                plan_group(demand, capacity, alternatives=1).feasible
            )
        except InputError:
            return False


def _held_to(demand: Demand, leader: Pod) -> Demand:
    """The demand with the restriction that its leader, or each of its pods, carries."""
    own = pod_shape(leader.spec, leader.metadata.labels)
    note = _note(leader)
    if note is None or not _holds_all(note):
        return replace(demand, leader=own)
    return replace(demand, leader=own, worker=replace(demand.worker, affinity=own.affinity))


def _is_held(pod: Pod) -> bool:
    if pod.bound or pod.finished or pod.terminating or GROUP_NAME not in pod.metadata.annotations:
        return False
    note = _note(pod)
    return note is not None and note.feasible and (note.leader_first or _holds_all(note))


def _holds_all(note: Note) -> bool:
    """Workers carry the same restriction as the leader."""
    return note.placement == "required" or bool(note.within)


def _note(pod: Pod) -> Note | None:
    try:
        return read_annotation(pod.metadata.annotations[PLAN])
    except (KeyError, InputError):
        return None
