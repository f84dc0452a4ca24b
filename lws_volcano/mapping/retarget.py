"""Pods that came past the webhook.

Rule (issue "It runs", item 5): a pod without our group name, or with that of the PodGroup that Volcano makes for a bare
StatefulSet (`podgroup-<uid>`), is re-pointed while it has no node; this was seen to work. A pod with a node stays where
it is and is reported, and so is one that names yet another PodGroup: somebody meant that. A task name that is missing
is put on too; a pod whose task the PodGroup does not know never starts.
"""

from collections.abc import Iterator
from typing import Final

from lws_volcano.api.names import GROUP_NAME, TASK_SPEC, Reason
from lws_volcano.api.pods import Pod
from lws_volcano.api.workloads import LeaderWorkerTemplate
from lws_volcano.mapping.changes import AnnotatePod, Notice
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.tasks import task_names, task_of

__all__ = ["report_outsiders", "retarget"]

_STRAY: Final = "podgroup-"
_MAX_EXAMPLES: Final = 3


def retarget(group: Group, template: LeaderWorkerTemplate) -> Iterator[AnnotatePod]:
    """Annotations for the members of a group that can still join its PodGroup."""
    leader_task, worker_task = task_names(template)
    for rank, pod in group.members.items():
        missing = _missing(pod, group.pod_group, worker_task if rank else leader_task)
        if missing:
            yield AnnotatePod(
                namespace=pod.namespace,
                name=pod.name,
                uid=pod.uid,
                annotations=missing,
                why="the pod was created past the webhook and has no node yet",
            )


def report_outsiders(group: Group) -> Notice | None:
    """Say which members of a group can't join it."""
    elsewhere = [pod for pod in group.members.values() if not pod.bound and _is_elsewhere(pod, group.pod_group)]
    outsiders = [*group.outside, *elsewhere]
    if not outsiders:
        return None
    names = ", ".join(pod.name for pod in outsiders[:_MAX_EXAMPLES])
    more = f" and {len(outsiders) - _MAX_EXAMPLES} more" if len(outsiders) > _MAX_EXAMPLES else ""
    return Notice(
        reason=Reason.POD_NOT_IN_GANG,
        message=(
            f"group {group.index}: {names}{more} belong to another PodGroup, or got a node before the gang was asked "
            "for; restart the group (delete its leader pod) to have all of it in one PodGroup"
        ),
    )


def _missing(pod: Pod, pod_group: str, task: str) -> dict[str, str]:
    if pod.bound or _is_elsewhere(pod, pod_group):
        return {}
    wanted = {}
    if pod.metadata.annotations.get(GROUP_NAME) != pod_group:
        wanted[GROUP_NAME] = pod_group
    if not task_of(pod.metadata, ""):
        wanted[TASK_SPEC] = task
    return wanted


def _is_elsewhere(pod: Pod, pod_group: str) -> bool:
    name = pod.metadata.annotations.get(GROUP_NAME, "")
    return bool(name) and name != pod_group and not name.startswith(_STRAY)
