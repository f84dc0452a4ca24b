"""minMember and minTaskMember, and when they are final.

Rule (DESIGN section 3, issue "A PodGroup that stays true", rows 1, 1b, 2)
- minMember = size, minTaskMember = {leader 1, worker size - 1} without zero keys. The two always agree: a minMember
  below the sum of minTaskMember switches Volcano's per-task check off (seen).
- Leader-first groups (startupPolicy LeaderReady, exclusive-topology, subgroup-exclusive-topology): LWS makes the
  workers only once the leader is ready, or has a node. While that leader has none the minimum is the leader alone; as
  soon as it has one, the whole group; back again when a restarted group gets a new leader.
- It does not go back while workers without our gate wait for a node, or all of them are there: they could start without
  the rest, and the whole group can be had. With no leader at all it stays as it is.
- Members that got a node in another PodGroup (the gang was asked for after they started) cannot join any more and are
  not counted, else the others would wait for them for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lws_volcano.api.meta import Metadata
from lws_volcano.api.names import EXCLUSIVE_TOPOLOGY, MINIMUM_GATE, SUBGROUP_EXCLUSIVE_TOPOLOGY
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LEADER_READY, LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.tasks import min_task_member

__all__ = ["Minimum", "first_minimum", "full_minimum", "is_gated", "leader_first", "minimum", "reached"]

_EXCLUSIVE: Final = (EXCLUSIVE_TOPOLOGY, SUBGROUP_EXCLUSIVE_TOPOLOGY)


@dataclass(frozen=True, slots=True)
class Minimum:
    """What must be placed together; `final` when it is the whole group."""

    member: int
    task_member: Mapping[str, int] = field(default_factory=dict)
    final: bool = True


def leader_first(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, leader: Metadata | None = None) -> bool:
    """LWS makes this group's workers only after its leader is placed.

    The leader pod keeps the annotation that it was made with, so it is asked beside the LWS.
    """
    if not template.workers:
        return False
    if lws.spec.startup_policy == LEADER_READY:
        return True
    annotations = {**lws.metadata.annotations, **(leader.annotations if leader else {})}
    return any(annotations.get(key) for key in _EXCLUSIVE)


def full_minimum(template: LeaderWorkerTemplate, outside: tuple[int, int] = (0, 0)) -> Minimum:
    """The whole group, but for leaders and workers that are outside."""
    leaders, workers = max(1 - outside[0], 0), max(template.workers - outside[1], 0)
    return Minimum(leaders + workers, min_task_member(template, leaders, workers))


def first_minimum(template: LeaderWorkerTemplate) -> Minimum:
    """The leader alone."""
    return Minimum(1, min_task_member(template, 1, 0), final=False)


def minimum(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, group: Group, observed: PodGroup | None) -> Minimum:
    """The minimum that the group's PodGroup must have now; `observed` is the one of ours that is there."""
    leader_outside = group.leader in group.outside
    full = full_minimum(template, (int(leader_outside), len(group.outside) - leader_outside))
    leader = group.leader
    if leader_outside or not leader_first(lws, template, leader.metadata if leader else None):
        return full
    raised = leader.bound if leader else observed is not None and reached(full, observed)
    return full if raised or _workers_hold(group, template) else first_minimum(template)


def reached(wanted: Minimum, observed: PodGroup) -> bool:
    """The PodGroup that is there asks for exactly this minimum."""
    spec = observed.spec
    return spec.min_member == wanted.member and dict(spec.min_task_member) == dict(wanted.task_member)


def is_gated(pod: Pod) -> bool:
    """Our gate is on the pod."""
    return any(gate.name == MINIMUM_GATE for gate in pod.spec.scheduling_gates)


def _workers_hold(group: Group, template: LeaderWorkerTemplate) -> bool:
    free = [pod for pod in group.workers if not is_gated(pod)]
    return len(free) == template.workers or any(not pod.bound for pod in free)
