"""Making a group anew whose place is lost.

Rule (CONTRACTS section 5): a leader that is held to nodes (placement `required`, leader-first groups) cannot be moved,
because affinity cannot be changed after admission. When its group is wholly unbound, and those nodes have had no room
for it for longer than the limit while others have, the leader is deleted, so that LWS makes the group anew and it is
planned anew. At most so many times, each time after twice as long. The count stands on the PodGroup, which outlives the
restart, with the UID of that leader: written before the pod is deleted, so a crash in between deletes the same leader
again and counts once. The mark goes when the group has been placed whole.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from lws_volcano.api.names import REMADE
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.changes import DeletePod
from lws_volcano.mapping.groups import Group

__all__ = ["Remake", "remake", "remake_annotation"]

LOOK_AGAIN: Final = timedelta(seconds=15)
"""Room that comes and goes elsewhere does not bring a set back by itself."""


class Remake(NamedTuple):
    """What is to be done now, and when to look again."""

    deletion: DeletePod | None = None
    recheck_at: datetime | None = None


def remake_annotation(observed: Mapping[str, str], *, remaking: str = "", whole: bool = False) -> dict[str, str]:
    """The mark that the PodGroup must carry; `remaking` is the UID of a leader about to be deleted."""
    count, uid = _mark(observed)
    if remaking and remaking != uid:
        return {REMADE: f"{count + 1} {remaking}"}
    return {REMADE: observed[REMADE]} if REMADE in observed and not whole else {}


def remake(
    group: Group,
    observed: Mapping[str, str],
    places: Mapping[str, datetime | None],
    now: datetime,
    settings: Settings,
) -> Remake:
    """Decide for one group; `observed` are its PodGroup's annotations, `places` is `Snapshot.places`."""
    leader = group.leader
    if leader is None or group.pod_group not in places or any(pod.bound for pod in group.members.values()):
        return Remake()
    count, uid = _mark(observed)
    lost = places[group.pod_group]
    if uid != leader.uid:
        if count >= settings.remake_limit:
            return Remake()
        if lost is None:
            return Remake(recheck_at=now + LOOK_AGAIN)
        due = lost + timedelta(seconds=settings.remake_after * 2.0**count)
        if now < due:
            return Remake(recheck_at=min(due, now + LOOK_AGAIN))
    return Remake(
        DeletePod(
            namespace=leader.namespace,
            name=leader.name,
            uid=leader.uid,
            why="the nodes that the group is held to have no room for it any more, others have",
        )
    )


def _mark(observed: Mapping[str, str]) -> tuple[int, str]:
    count, _, uid = observed.get(REMADE, "").partition(" ")
    return (int(count), uid) if count.isascii() and count.isdigit() else (0, "")
