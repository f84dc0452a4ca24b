"""When somebody else owns the gang, we write nothing and say so once.

Rule (DESIGN section 3): LWS's own Volcano provider is on (a group's PodGroup belongs to the leader *pod*),
`spec.scheduling` is set (LWS's typed gang API), or the user wrote `scheduling.k8s.io/group-name` in a pod template.
The last one is usually a mistake with more than one group: they would all share one PodGroup.
"""

from collections.abc import Iterable

from lws_volcano.api.names import GROUP_NAME, Reason
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["made_by_lws", "own_group_name", "stand_down"]


def stand_down(
    lws: LeaderWorkerSet, template: LeaderWorkerTemplate, pod_groups: Iterable[PodGroup] = ()
) -> Problem | None:
    """Who else owns the gang of this LWS, if anybody does."""
    if lws.spec.scheduling:
        return _stood_down("spec.scheduling is set, so LWS itself makes the gang; remove one of the two to choose")
    name = own_group_name(template)
    if name:
        return _stood_down(_own_name_message(name, lws.spec.replicas))
    own_names = f"{lws.name}-"
    theirs = sorted(group.name for group in pod_groups if made_by_lws(group) and group.name.startswith(own_names))
    if theirs:
        return _stood_down(
            f"PodGroup {theirs[0]} belongs to its leader pod: LWS's own Volcano provider is on; "
            "switch it off in the LWS configuration to leave the gang to lws-volcano"
        )
    return None


def own_group_name(template: LeaderWorkerTemplate) -> str:
    """The group name that the user wrote in a pod template, empty without one."""
    return template.leader.metadata.annotations.get(GROUP_NAME) or template.worker_template.metadata.annotations.get(
        GROUP_NAME, ""
    )


def made_by_lws(pod_group: PodGroup) -> bool:
    """It was made by LWS's own Volcano provider, whose PodGroups belong to the leader pod."""
    return any(owner.controller and owner.kind == "Pod" for owner in pod_group.metadata.owner_references)


def _own_name_message(name: str, replicas: int) -> str:
    said = f"the pod template carries {GROUP_NAME} {name!r}, so the PodGroup is the user's own"
    if replicas > 1:
        return f"{said}; all {replicas} groups would share this one PodGroup: remove the annotation to get one a group"
    return f"{said}; remove the annotation to leave the gang to lws-volcano"


def _stood_down(message: str) -> Problem:
    return Problem(Reason.STOOD_DOWN, message, Cost.EVERYTHING)
