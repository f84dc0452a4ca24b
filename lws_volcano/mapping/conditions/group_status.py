"""One row a group, counted from its pods.

Order in which a reason is chosen: on its way out, kept from us (a name that is taken, a bad template), gated, held by
its queue, stranded, not all created, waiting for capacity, outside the gang, starting, running.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from lws_volcano.api.names import Reason
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import PodGroup, Queue
from lws_volcano.mapping.changes import GroupStatus
from lws_volcano.mapping.conditions.stranded import stranded_at
from lws_volcano.mapping.conditions.waiting import capacity_message, gates_on, starting_message
from lws_volcano.mapping.groups import Group, order_of
from lws_volcano.mapping.problems import Problem

__all__ = ["Sight", "group_status", "missing_groups"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A group and what is known around it.

    `size` is 0 when the group's revision is not known; `in_the_way` is what keeps its PodGroup from being right;
    `outside` says which of its pods are in another PodGroup or in none;
    `workers_wait` is what LWS waits for before it makes the workers; `released` says that the group was stranded and
    its leader was deleted for it.
    """

    group: Group
    size: int
    now: datetime
    stranded_after: float
    pod_group: PodGroup | None = None
    in_the_way: Problem | None = None
    outside: str = ""
    min_resources: Mapping[str, str]
    queues: Mapping[str, Queue] | None = None
    workers_wait: str = ""
    released: bool = False


def group_status(sight: Sight) -> GroupStatus:
    """The row of one group."""
    group, members = sight.group, sight.group.members
    reason, message = _reason(sight)
    return GroupStatus(
        group=group.index,
        revision=group.revision,
        pod_group=group.pod_group,
        size=sight.size,
        created=len(members),
        placed=_bound(members.values()),
        running=sum(pod.status.phase == "Running" for pod in members.values()),
        reason=reason,
        message=message,
    )


def missing_groups(replicas: int, size: int, rows: Iterable[GroupStatus]) -> tuple[GroupStatus, ...]:
    """Rows of the groups that LWS has not begun; none where the indices are not counted from 0."""
    there = {row.group for row in rows if row.reason is not Reason.TERMINATING}
    if not all(index.isascii() and index.isdigit() for index in there):
        return ()
    absent = [str(index) for index in range(replicas) if str(index) not in there]
    return tuple(
        GroupStatus(
            group=index,
            revision="",
            pod_group="",
            size=size,
            created=0,
            placed=0,
            running=0,
            reason=Reason.PODS_NOT_CREATED,
            message="LeaderWorkerSet has not made the leader pod yet",
        )
        for index in sorted(absent, key=order_of)
    )


def _reason(sight: Sight) -> tuple[Reason, str]:
    members = sight.group.members
    if not members:
        return Reason.TERMINATING, f"{len(sight.group.pods)} pods are ending or done"
    placed, created = _bound(members.values()), len(members)
    if placed >= sight.size > 0:
        # Placed, but by no gang: nobody reads further than the reason.
        return (Reason.POD_NOT_IN_GANG, sight.outside) if sight.outside else _placed(members.values(), sight.size)
    if sight.in_the_way is not None:
        return sight.in_the_way.reason, sight.in_the_way.message
    gates = gates_on(members.values())
    if gates:
        return Reason.GATED, f"gated by {gates}"
    return _unplaced(sight, placed, created)


def _unplaced(sight: Sight, placed: int, created: int) -> tuple[Reason, str]:
    since = stranded_at(sight.group, sight.stranded_after)
    waiting = [pod for pod in sight.group.members.values() if not pod.bound]
    short = capacity_message(waiting, sight.pod_group, sight.min_resources, sight.queues)
    if since is not None and sight.now >= since:
        remedy = "" if sight.released else " or delete the leader pod to release the group"
        return Reason.STRANDED, (
            f"{placed} of {sight.size} pods hold nodes while {len(waiting)} wait{f' ({short})' if short else ''}; "
            f"free room for them{remedy}{_released(sight)}"
        )
    if waiting and (created >= sight.size or _refused(waiting)):
        why = f"; {short}" if short else ", the scheduler has not said why"
        return Reason.WAITING_FOR_CAPACITY, f"{placed} of {sight.size} pods placed{why}{_released(sight)}"
    wait = f"; {sight.workers_wait}" if sight.workers_wait else ""
    return Reason.PODS_NOT_CREATED, f"{created} of {sight.size} pods created{wait}{_released(sight)}"


def _released(sight: Sight) -> str:
    return "; the group was stranded and has been released once" if sight.released else ""


def _placed(members: Iterable[Pod], size: int) -> tuple[Reason, str]:
    members = tuple(members)
    running = sum(pod.status.phase == "Running" for pod in members)
    if running >= size:
        return Reason.RUNNING, ""
    why = starting_message(members)
    return Reason.STARTING, f"{running} of {size} pods run{f'; {why}' if why else ''}"


def _refused(waiting: Iterable[Pod]) -> bool:
    verdicts = (pod.condition("PodScheduled") for pod in waiting)
    return any(verdict is not None and verdict.status == "False" for verdict in verdicts)


def _bound(members: Iterable[Pod]) -> int:
    return sum(pod.bound for pod in members)
