"""Status of a LeaderWorkerSet: counts, the three conditions, the selector of the scale sub-resource."""

import datetime as dt
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from deploy.local.lws_stand_in.names import NAME, WORKER_INDEX, Json
from deploy.local.lws_stand_in.rollout import Budget, GroupState

__all__ = ["Outcome", "new_status"]

AVAILABLE: Final = "Available"
PROGRESSING: Final = "Progressing"
UPDATING: Final = "UpdateInProgress"
_WORDS: Final = {
    AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
    UPDATING: ("GroupsUpdating", "Rolling Upgrade is in progress"),
}
_EXCLUDES: Final = {AVAILABLE: {PROGRESSING, UPDATING}, PROGRESSING: {AVAILABLE}, UPDATING: {AVAILABLE}}


@dataclass(frozen=True)
class Outcome:
    """The status to write, and whether every group is of the newest revision and ready."""

    status: Json
    finished: bool


def new_status(lws: Json, leaders: int, states: Mapping[int, GroupState], now: dt.datetime) -> Outcome:
    """Status of a set.

    Parameters
    ----------
    lws : dict
        The set as it is.
    leaders : int
        Pods that the leader StatefulSet has.
    states : mapping
        Group index -> state, for groups whose leader (and workers' StatefulSet) exist.
    now : datetime
        Time for conditions that change.
    """
    budget = Budget.of(lws)
    wanted = {i: s for i, s in states.items() if i < budget.replicas}
    in_part = [s for i, s in wanted.items() if i >= budget.partition]
    complete = sum(1 for s in in_part if s.ready and s.updated)
    status = deepcopy(lws.get("status") or {})
    status |= {
        "replicas": leaders,
        "readyReplicas": sum(1 for s in states.values() if s.ready),
        "updatedReplicas": sum(1 for s in states.values() if s.updated),
        "observedGeneration": lws["metadata"]["generation"],
        "hpaPodSelector": f"{NAME}={lws['metadata']['name']},{WORKER_INDEX}=0",
    }
    kinds = _kinds(in_part, complete, all_ready=_ready(wanted) == budget.replicas)
    status["conditions"] = _conditions(status.get("conditions") or [], kinds, lws["metadata"]["generation"], now)
    return Outcome(status, finished=budget.partition == 0 and complete == budget.replicas)


def _ready(states: Mapping[int, GroupState]) -> int:
    return sum(1 for s in states.values() if s.ready)


def _kinds(in_part: Sequence[GroupState], complete: int, *, all_ready: bool) -> list[str]:
    if any(not s.updated for s in in_part):
        return [UPDATING, PROGRESSING]
    return [AVAILABLE] if all_ready and complete == len(in_part) else [PROGRESSING]


def _conditions(current: list[Json], kinds: list[str], generation: int, now: dt.datetime) -> list[Json]:
    """Set the kinds True and what they exclude False; conditions of others are kept."""
    by_type = {condition["type"]: condition for condition in current}
    time = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    for kind in kinds:
        for other in _EXCLUDES[kind] & by_type.keys():
            if by_type[other]["status"] == "True":
                by_type[other] |= {"status": "False", "lastTransitionTime": time}
        if by_type.get(kind, {}).get("status") != "True":
            reason, message = _WORDS[kind]
            by_type[kind] = {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": message,
                "lastTransitionTime": time,
            }
    for kind in _WORDS.keys() & by_type.keys():
        by_type[kind]["observedGeneration"] = generation
    return list(by_type.values())
