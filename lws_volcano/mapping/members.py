"""Which pods of a group count, through restarts.

Rule (DESIGN section 3, issue "A PodGroup that stays true", row 3): a pod counts while it is neither terminating nor
finished. Names mean nothing: a restarted group has the same names. Of two pods with one rank the later one counts
(the other is a late event), and of workers of two StatefulSets (told apart by owner UID, the older one belongs to the
leader before) those of the StatefulSet with the latest pod count.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from lws_volcano.api.pods import Pod
from lws_volcano.mapping.identity import identify

__all__ = ["live", "present"]

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def live(pod: Pod) -> bool:
    """It is neither on its way out nor done."""
    return not pod.terminating and not pod.finished


def present(pods: Iterable[Pod]) -> dict[int, Pod]:
    """Worker index -> the pod that holds this rank now; the leader has 0."""
    ranked = sorted((pod for pod in pods if live(pod)), key=_age)
    current = _current_owner(ranked)
    members: dict[int, Pod] = {}
    for pod in ranked:
        identity = identify(pod.metadata)
        if identity is None or (identity.worker_index and pod.metadata.controller_uid != current):
            continue
        members[identity.worker_index] = pod
    return dict(sorted(members.items()))


def _current_owner(ranked: Iterable[Pod]) -> str:
    owner = ""
    for pod in ranked:
        identity = identify(pod.metadata)
        if identity is not None and identity.worker_index:
            owner = pod.metadata.controller_uid
    return owner


def _age(pod: Pod) -> tuple[datetime, str, str]:
    return pod.metadata.creation_timestamp or _LONG_AGO, pod.metadata.resource_version.rjust(20), pod.uid
