"""What a pass decides: small changes with reasons, one condition, and notices for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lws_volcano.api.names import Reason

__all__ = [
    "AnnotatePod",
    "ApplyPodGroup",
    "Change",
    "DeletePod",
    "DeletePodGroup",
    "GangCondition",
    "GroupStatus",
    "LwsPlan",
    "Notice",
    "RemoveGate",
    "Whereabouts",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyPodGroup:
    """Server-side apply of a PodGroup: exactly the fields that are ours.

    `uid` is the UID of the object seen (it goes into the applied metadata, so that a new object under the same name is
    not taken for it), or empty to create. `prune` is a JSON merge patch of nulls for fields that must not stand beside
    ours; the apply takes out those that we applied before. With `stands` the rest is right already, and the patch alone
    is enough.
    """

    namespace: str
    name: str
    manifest: Mapping[str, Any]
    why: str
    uid: str = ""
    prune: Mapping[str, Any] | None = None
    stands: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePodGroup:
    """Delete a PodGroup of ours, with its UID as precondition."""

    namespace: str
    name: str
    uid: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatePod:
    """Merge annotations into a pod that is not bound yet (re-pointing one that slipped past the webhook)."""

    namespace: str
    name: str
    uid: str
    annotations: Mapping[str, str]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveGate:
    """Take our scheduling gate off a pod."""

    namespace: str
    name: str
    uid: str
    gate: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePod:
    """Delete a leader so that LWS makes its group anew, with its UID as precondition."""

    namespace: str
    name: str
    uid: str
    why: str


Change = ApplyPodGroup | DeletePodGroup | AnnotatePod | RemoveGate | DeletePod
"""In the order in which they must be made: the executor stops at the first that fails and the key is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An Event to be: on the LWS, or on the pod named by `pod`."""

    reason: Reason
    message: str
    warning: bool = True
    pod: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangCondition:
    """Our condition in the LWS status (type `names.GANG_SCHEDULED`)."""

    status: bool
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Of one group whose pods all have nodes.

    Attributes
    ----------
    domain, tier
        The lowest domain that holds every pod; empty and the top tier + 1 across trees. On one node the tier is 0.
    ring_cost, planned_cost
        s/GB around the ranks, as they sit and as they would have been in the best place that was planned; None where
        there is no plan.
    followed
        Every rank sits on the node planned for it, in one of the candidate domains; None where there is no plan.
    """

    domain: str
    tier: int
    ring_cost: float
    planned_cost: float | None = None
    followed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatus:
    """One group as it stands, counted from pods: a row of `lws-volcano status`."""

    group: str
    revision: str
    pod_group: str
    size: int
    created: int
    placed: int
    running: int
    reason: Reason
    message: str = ""
    where: Whereabouts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LwsPlan:
    """The outcome of one pass over one LWS.

    `condition` None means that we have nothing to say about this LWS: a condition of ours that is there is removed.
    `notices` repeat while their cause lasts; the recorder writes each only when it is new.
    `recheck_after` is seconds until time alone may change the outcome (stranded, remake), None if it can't.
    """

    changes: tuple[Change, ...] = ()
    condition: GangCondition | None = None
    notices: tuple[Notice, ...] = ()
    groups: tuple[GroupStatus, ...] = ()
    recheck_after: float | None = None
    blocked: tuple[str, ...] = field(default=())
    """Names of PodGroups that must come but wait for somebody else's object to go (a terminating one, a stranger's)."""
