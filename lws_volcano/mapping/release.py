"""Releasing a stranded leader-first group, once.

Rule (issue "A PodGroup that stays true", row 1b): where the configuration says so, the leader of a stranded group is
deleted, and LWS makes the group anew. That it was done stands on the PodGroup, which outlives the restart, as the UID
of that leader: written before the pod is deleted, so a crash in between deletes the same leader again and no other. The
mark goes when the group has been placed whole.
"""

from collections.abc import Mapping

from lws_volcano.api.names import RELEASED
from lws_volcano.mapping.changes import DeletePod
from lws_volcano.mapping.groups import Group

__all__ = ["release", "release_annotation"]


def release_annotation(observed: Mapping[str, str], *, releasing: str = "", whole: bool = False) -> dict[str, str]:
    """The mark that the PodGroup must carry."""
    uid = releasing or ("" if whole else observed.get(RELEASED, ""))
    return {RELEASED: uid} if uid else {}


def release(group: Group, observed: Mapping[str, str]) -> DeletePod | None:
    """Deletion of the leader of a stranded group, None when it has been released before or has no leader."""
    leader = group.leader
    if leader is None or not leader.bound or observed.get(RELEASED, leader.uid) != leader.uid:
        return None
    return DeletePod(
        namespace=leader.namespace,
        name=leader.name,
        uid=leader.uid,
        why="the group is stranded: its workers have no room, so it is released once",
    )
