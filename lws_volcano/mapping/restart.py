"""A group's PodGroup outlives the restart of its pods.

Rule (DESIGN section 3, issue "A PodGroup that stays true", row 3): between the last pod of a restarted group and its
new leader there is a moment without pods. The PodGroup stays through it when the group is sure to come back as it was:
its index is below `spec.replicas`, its revision is the current one (or the index is below the rollout's partition, then
the old one), and no pod of another revision has its index. Any other empty PodGroup goes at once, for it holds queue
room that somebody else needs: after a scale-down, and in a rollout, where the group comes back as another revision.

Indices are compared as text; a group whose index is no number gets a new PodGroup after such a moment.
"""

from collections.abc import Iterable

from lws_volcano.api.names import GROUP_INDEX, REVISION_HASH
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet
from lws_volcano.mapping.groups import Group

__all__ = ["current_revision", "returning"]


def returning(
    lws: LeaderWorkerSet,
    revisions: Iterable[ControllerRevision],
    groups: Iterable[Group],
    pod_groups: Iterable[PodGroup],
) -> set[str]:
    """Names of the PodGroups whose pods are on their way back."""
    if lws.metadata.terminating:
        return set()
    there = {group.index for group in groups}
    awaited = {str(index) for index in range(lws.spec.replicas)} - there
    if not awaited:
        return set()
    kept_old = {str(i) for i in range(lws.spec.rollout_strategy.rolling_update_configuration.partition)}
    current = current_revision(lws, revisions)
    return {
        pod_group.name
        for pod_group in pod_groups
        if (index := pod_group.metadata.labels.get(GROUP_INDEX, "")) in awaited
        and (index in kept_old or pod_group.metadata.labels.get(REVISION_HASH) == current)
    }


def current_revision(lws: LeaderWorkerSet, revisions: Iterable[ControllerRevision]) -> str:
    """Hash of the newest revision; LWS gives a template that comes back a new number."""
    own = [revision for revision in revisions if revision.owner_uid == lws.uid and revision.hash]
    newest = max(own, key=lambda revision: (revision.revision, revision.name), default=None)
    return newest.hash if newest else ""
