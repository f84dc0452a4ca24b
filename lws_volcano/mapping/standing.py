"""Where a group stands with us before anything is decided: the verdict on its PodGroup.

Rules
- A terminating PodGroup, or one whose owner UID is another, is not taken for ours (issue "A PodGroup that stays true",
  row 6): wait until it is gone, then create. A stranger's is reported and never adopted.
- Opt-out, standing down and a template that can't be a gang make nothing new. A PodGroup that pods still stand behind
  stays as it is, but for its minimum: no worker may start alone because somebody edited an annotation.
- A group all of whose members got their nodes elsewhere gets none: an empty PodGroup holds queue room.
"""

from dataclasses import dataclass
from enum import Enum, auto

from lws_volcano.api.names import GROUP_NAME, Reason
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.blueprint import Blueprint
from lws_volcano.mapping.clean_up import is_ours
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.naming import check_name
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["Standing", "Verdict", "judge"]


class Verdict(Enum):
    """What to do for the group."""

    KEEP_UP = auto()
    """Create its PodGroup or keep it true."""
    WAIT = auto()
    """A PodGroup must come and can't yet."""
    KEEP_MINIMUM = auto()
    """Its PodGroup stays as it is, but for the minimum."""
    LEAVE = auto()
    """Change nothing: the group is ending, or not enough is known about it."""
    NONE = auto()
    """No PodGroup is wanted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The verdict, why, and the group's PodGroup where it is ours and stays."""

    verdict: Verdict
    problem: Problem | None = None
    ours: PodGroup | None = None


def judge(lws: LeaderWorkerSet, group: Group, blueprint: Blueprint | None, observed: PodGroup | None) -> Standing:
    """Decide for one group; `observed` is the PodGroup under its name, whoever made it."""
    ours = observed if observed is not None and is_ours(observed, lws) and not observed.metadata.terminating else None
    if blueprint is None:
        return Standing(Verdict.LEAVE, _unknown_revision(group), ours)
    if not blueprint.wanted:
        return Standing(_former(group, ours), blueprint.stood_down, ours)
    refusal = blueprint.refusal or check_name(group.pod_group)
    if refusal is not None:
        return Standing(_former(group, ours), refusal, ours)
    if observed is not None and ours is None:
        return Standing(Verdict.WAIT, _taken(observed, lws), None)
    if lws.metadata.terminating or (ours is None and not group.members):
        return Standing(Verdict.LEAVE, None, ours)
    if group.members and len(group.outside) == len(group.members):
        return Standing(Verdict.NONE, None, ours)
    if ours is None and blueprint.hold is not None:
        return Standing(Verdict.WAIT, blueprint.hold, None)
    return Standing(Verdict.KEEP_UP, None, ours)


def _former(group: Group, ours: PodGroup | None) -> Verdict:
    """Verdict for a group that gets no PodGroup, but may have one."""
    named = any(pod.metadata.annotations.get(GROUP_NAME) == group.pod_group for pod in group.members.values())
    return Verdict.KEEP_MINIMUM if ours is not None and named else Verdict.NONE


def _unknown_revision(group: Group) -> Problem:
    return Problem(
        Reason.REVISION_NOT_FOUND,
        f"no ControllerRevision of this LeaderWorkerSet carries the hash {group.revision} of group {group.index} yet",
        Cost.CREATION,
    )


def _taken(observed: PodGroup, lws: LeaderWorkerSet) -> Problem:
    if observed.metadata.terminating:
        return Problem(
            Reason.NAME_TAKEN,
            f"PodGroup {observed.name} is still being deleted; a new one is made as soon as it is gone"
            + (f" (it waits for {', '.join(observed.metadata.finalizers)})" if observed.metadata.finalizers else ""),
            Cost.CREATION,
        )
    owner = next((f"{o.kind} {o.name}" for o in observed.metadata.owner_references if o.controller), "nobody")
    before = " of the same name before" if owner == f"LeaderWorkerSet {lws.name}" else ""
    return Problem(
        Reason.NAME_TAKEN,
        f"PodGroup {observed.name} belongs to {owner}{before}, not to this LeaderWorkerSet; delete or rename it",
        Cost.CREATION,
    )
