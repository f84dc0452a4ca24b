"""Which PodGroups go.

Rule (DESIGN section 3): pods first, PodGroup after. A PodGroup of ours goes when no pod names it any more and no group
wants it, in the pass that sees the last one gone, and not a moment before: neither scale-down nor opt-out takes it from
under pods that still end. Ours means: controlled by this LWS (owner UID) and labelled as managed by us. An
empty one must not stay either: it holds queue room (FACTS section 2).

An LWS that is gone leaves its PodGroups to the garbage collector. Where it was deleted with its dependents orphaned,
they have lost their owner; the label says that they are ours and the last pod decides.
"""

from collections.abc import Collection, Iterable

from lws_volcano.api.names import GROUP_NAME, LWS_NAME, MANAGED_BY, MANAGER
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.changes import DeletePodGroup

__all__ = ["clean_up", "clean_up_orphans", "is_ours"]


def is_ours(pod_group: PodGroup, lws: LeaderWorkerSet) -> bool:
    """It belongs to this very LWS, not to one of the same name before it."""
    return bool(lws.uid) and pod_group.metadata.controller_uid == lws.uid


def clean_up(
    lws: LeaderWorkerSet, pods: Iterable[Pod], pod_groups: Iterable[PodGroup], wanted: Collection[str]
) -> tuple[DeletePodGroup, ...]:
    """Deletions for one LWS, by name; `wanted` are the names of the PodGroups that its groups should have."""
    needed = {*wanted, *_named(pods)}
    return _deletions(group for group in pod_groups if is_ours(group, lws) and group.name not in needed)


def clean_up_orphans(lws_name: str, pods: Iterable[Pod], pod_groups: Iterable[PodGroup]) -> tuple[DeletePodGroup, ...]:
    """Deletions for an LWS that is gone: its PodGroups that have no owner any more and no pods.

    Parameters
    ----------
    lws_name
        Name of the LWS that was deleted.
    pods, pod_groups
        Those of its namespace.
    """
    needed = _named(pods)
    return _deletions(
        group
        for group in pod_groups
        if group.metadata.labels.get(LWS_NAME) == lws_name
        and not group.metadata.owner_references
        and group.name not in needed
    )


def _named(pods: Iterable[Pod]) -> set[str]:
    """PodGroups that pods name, ending pods too."""
    return {pod.metadata.annotations.get(GROUP_NAME, "") for pod in pods}


def _deletions(pod_groups: Iterable[PodGroup]) -> tuple[DeletePodGroup, ...]:
    return tuple(
        DeletePodGroup(namespace=group.namespace, name=group.name, uid=group.uid, why="no pod of its group is left")
        for group in sorted(pod_groups, key=lambda group: group.name)
        if group.metadata.labels.get(MANAGED_BY) == MANAGER and not group.metadata.terminating
    )
