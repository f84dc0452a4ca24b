"""The seam between admission and placement: what a HintSource says is added to the pod, nothing else.

The planner (`placement`) decides; it is called while the API server waits, so a source answers from memory, without
waiting for anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lws_volcano.api.pods import Pod
from lws_volcano.api.workloads import LeaderWorkerSet

__all__ = ["NO_HINTS", "HintSource", "Hints", "Member", "NoHints"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A pod that is about to join a group.

    Attributes
    ----------
    group_index
        As LWS writes it; not always a number.
    worker_index
        0 for the leader.
    leader
        The leader pod of the group from the cache (it carries the plan), None for the leader itself and where the
        cache has not seen it.
    """

    pod: Pod
    lws: LeaderWorkerSet
    group_index: str
    worker_index: int
    pod_group: str
    leader: Pod | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What is added to one pod (CONTRACTS section 5).

    Attributes
    ----------
    preferred
        PreferredSchedulingTerms, after the user's own.
    required
        NodeSelectorRequirements, in addition to the user's own.
    annotations
        `lws-volcano.io/plan` and `volcano.sh/task-priority` on leaders.
    """

    preferred: tuple[Mapping[str, Any], ...] = ()
    required: tuple[Mapping[str, Any], ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


NO_HINTS = Hints()


class HintSource(Protocol):
    """Gives the hints of a pod at its admission."""

    def for_member(self, member: Member) -> Hints:
        """Hints of this pod; `NO_HINTS` where none are wanted or none can be had in time."""
        ...


class NoHints:
    """No placement: every pod goes where the scheduler likes."""

    def for_member(self, member: Member) -> Hints:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return NO_HINTS
