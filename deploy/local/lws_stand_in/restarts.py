"""Restart policies: which leader has to go because one of its group's pods was deleted or restarted."""

from collections.abc import Sequence

from deploy.local.lws_stand_in.names import AFTER_START, REVISION, Json, annotations, group_size, labels

__all__ = ["broken", "recreates", "same_group"]

ALWAYS = "RecreateGroupOnPodRestart"
AFTER = "RecreateGroupAfterStart"


def broken(pod: Json) -> bool:
    """It is being deleted, or one of its containers was restarted."""
    if pod["metadata"].get("deletionTimestamp"):
        return True
    status = pod.get("status", {})
    if status.get("phase") not in {"Running", "Pending"}:
        return False
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return any(one.get("restartCount", 0) > 0 for one in containers)


def recreates(lws: Json, group: Sequence[Json]) -> bool:
    """The policy asks for a new group, given the group's pods."""
    policy = lws["spec"]["leaderWorkerTemplate"].get("restartPolicy", ALWAYS)
    if policy not in {ALWAYS, AFTER}:
        return False
    starting = len(group) != group_size(lws) or any(pod["status"].get("phase") == "Pending" for pod in group)
    return not (starting and (policy == AFTER or AFTER_START in annotations(lws)))


def same_group(pod: Json, leader: Json, owner: Json | None, owner_of_owner: Json | None) -> bool:
    """The worker belongs to this very leader, not to an earlier one of the same name.

    Parameters
    ----------
    pod, leader : dict
        The pods.
    owner : dict, optional
        Owner reference of the worker.
    owner_of_owner : dict, optional
        Owner reference of the StatefulSet that `owner` names, None where it is gone.
    """
    if labels(pod).get(REVISION) != labels(leader).get(REVISION) or owner is None:
        return False
    above = owner if owner["kind"] == "Pod" else owner_of_owner
    return above is not None and above["kind"] == "Pod" and above["uid"] == leader["metadata"]["uid"]
