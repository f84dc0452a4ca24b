"""Pods that can never be made: the set's name leaves no room for a hash in a label of theirs.

The API server takes such an LWS, and nobody says anything: only the StatefulSet controller meets the refusal. The
leaders' StatefulSet is named like the LWS, that of a group's workers like the leader pod, `<lws>-<group index>`.
"""

from collections.abc import Iterable
from typing import Final

from lws_volcano.api.names import Reason
from lws_volcano.mapping.changes import GroupStatus
from lws_volcano.mapping.problems import Problem

__all__ = ["MAX_SET_NAME", "name_without_pods"]

MAX_SET_NAME: Final = 52
"""Longest name of a StatefulSet that gets pods: their label `controller-revision-hash` is the name, a dash and a hash
of up to ten characters, and a label value has at most 63."""

_MISSING: Final = (Reason.PODS_NOT_CREATED, Reason.WAITING_FOR_CAPACITY)
"""The scheduler may have refused the members that are there, for want of the others."""


def name_without_pods(lws: str, rows: Iterable[GroupStatus]) -> Problem | None:
    """Why pods that are missing are missing; None where the name is not to blame."""
    for row in rows:
        name = f"{lws}-{row.group}" if row.created else lws
        if row.reason in _MISSING and row.created < row.size and len(name) > MAX_SET_NAME:
            return Problem(
                Reason.NAME_TOO_LONG,
                f"StatefulSet {name} has {len(name)} characters, but its pods need a label of that name and a hash, "
                f"which fits up to {MAX_SET_NAME}: no pod can be made; make the LeaderWorkerSet anew with a name of at "
                f"most {MAX_SET_NAME - len(row.group) - 1} characters",
            )
    return None
