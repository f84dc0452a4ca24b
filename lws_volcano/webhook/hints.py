"""The seam between admission and placement: what a HintSource says is added to the pod, nothing else.

The planner (`placement`) decides; it is called while the API server waits, so a source answers from memory, without
waiting for anything.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from lws_volcano.api.pods import Pod
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.placement.hints import PodHints

__all__ = ["NO_HINTS", "HintSource", "Member", "NoHints"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A pod that is about to join a group.

    Attributes
    ----------
    template
        Of the pod's revision, the live one where that is not known.
    group_index
        As LWS writes it; not always a number.
    worker_index
        0 for the leader.
    dry_run
        Nothing comes of this request: no place is to be held.
    leader
        The leader pod of the group from the cache (it carries the plan), None for the leader itself and where the
        cache has not seen it.
    """

    pod: Pod
    lws: LeaderWorkerSet
    template: LeaderWorkerTemplate
    revision: str
    group_index: str
    worker_index: int
    pod_group: str
    dry_run: bool = False
    leader: Pod | None = None


NO_HINTS: Final = PodHints()


class HintSource(Protocol):
    """Gives the hints of a pod at its admission."""

    def for_member(self, member: Member) -> PodHints:
        """Hints of this pod; `NO_HINTS` where none are wanted or none can be had in time."""
        ...


class NoHints:
    """No placement: every pod goes where the scheduler likes."""

    def for_member(self, member: Member) -> PodHints:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return NO_HINTS
