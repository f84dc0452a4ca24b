"""Which pods of a group count, through restarts.

Rule (DESIGN section 3, issue "A PodGroup that stays true", row 3): a pod counts while it is neither terminating nor
finished. Names mean nothing: a restarted group has the same names. Of two pods with one rank the later one counts
(the other is a late event), and of workers of two StatefulSets (told apart by owner UID, the older one belongs to the
leader before) those of the StatefulSet with the latest pod count.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from lws_volcano.api.pods import Pod

__all__ = ["Ranked", "live", "present"]

Ranked = tuple[int, Pod]
"""Worker index and pod."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def live(pod: Pod) -> bool:
    """It is neither on its way out nor done."""
    return pod.metadata.deletion_timestamp is None and not pod.finished


def present(pods: Iterable[Ranked]) -> dict[int, Pod]:
    """Worker index -> the pod that holds this rank now; the leader has 0. In order of rank."""
    alive = sorted((one for one in pods if live(one[1])), key=_rank)
    members = dict(alive)
    owners = {pod.metadata.controller_uid for rank, pod in alive if rank}
    if len(members) == len(alive) and len(owners) <= 1:
        return members
    return _latest(alive)


def _latest(alive: Sequence[Ranked]) -> dict[int, Pod]:
    by_age = sorted(alive, key=_age)
    current = next((pod.metadata.controller_uid for rank, pod in reversed(by_age) if rank), "")
    latest = {rank: pod for rank, pod in by_age if not rank or pod.metadata.controller_uid == current}
    return dict(sorted(latest.items(), key=_rank))


def _rank(one: Ranked) -> int:
    return one[0]


def _age(one: Ranked) -> tuple[datetime, str, str]:
    metadata = one[1].metadata
    return metadata.creation_timestamp or _LONG_AGO, metadata.resource_version.rjust(20), metadata.uid
