"""One pass over one group: its changes, its row, and what it waits for."""

from dataclasses import dataclass
from datetime import datetime

from lws_volcano.api.names import SIZE, Reason
from lws_volcano.api.volcano import PodGroup
from lws_volcano.mapping.blueprint import Blueprint
from lws_volcano.mapping.changes import Change, GroupStatus, Notice
from lws_volcano.mapping.conditions.group_status import Sight, group_status
from lws_volcano.mapping.conditions.stranded import stranded_at
from lws_volcano.mapping.diff import update
from lws_volcano.mapping.gates import open_all_gates, open_gates
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.minimum import leader_first
from lws_volcano.mapping.pod_groups import desire, keep
from lws_volcano.mapping.problems import Problem
from lws_volcano.mapping.release import release
from lws_volcano.mapping.retarget import report_outsiders, retarget
from lws_volcano.mapping.snapshot import Snapshot
from lws_volcano.mapping.standing import Standing, Verdict, judge

__all__ = ["GroupPlan", "plan_group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """The outcome for one group.

    Attributes
    ----------
    wanted
        Its PodGroup is to be there (so clean-up leaves it).
    blocked
        It must come and waits for somebody else's object to go.
    recheck_at
        The moment at which time alone changes the outcome.
    """

    group: Group
    changes: tuple[Change, ...] = ()
    wanted: bool = False
    blocked: bool = False
    problem: Problem | None = None
    notice: Notice | None = None
    status: GroupStatus
    recheck_at: datetime | None = None


def plan_group(snapshot: Snapshot, group: Group, blueprint: Blueprint | None, observed: PodGroup | None) -> GroupPlan:
    """Decide for one group.

    Parameters
    ----------
    snapshot
        The LWS and what surrounds it.
    group
        The group and its pods.
    blueprint
        Of the group's revision; None while the revision is not known.
    observed
        The PodGroup under the group's name, whoever made it.
    """
    standing = judge(snapshot.lws, group, blueprint, observed)
    sight = _sight(snapshot, group, blueprint, standing)
    status = group_status(sight)
    moment = stranded_at(group, snapshot.settings.stranded_after) if _is_open(status) else None
    return GroupPlan(
        group=group,
        changes=_changes(snapshot, group, blueprint, standing, status),
        wanted=standing.verdict in {Verdict.KEEP_UP, Verdict.WAIT},
        blocked=standing.verdict is Verdict.WAIT and observed is not None,
        problem=standing.problem,
        notice=report_outsiders(group) if blueprint and blueprint.wanted else None,
        status=status,
        recheck_at=moment if moment and moment > snapshot.now else None,
    )


def _changes(
    snapshot: Snapshot, group: Group, blueprint: Blueprint | None, standing: Standing, status: GroupStatus
) -> tuple[Change, ...]:
    if blueprint is None or standing.verdict is Verdict.LEAVE:
        return ()
    if standing.verdict is Verdict.NONE:
        return tuple(open_all_gates(group))
    if standing.verdict is Verdict.WAIT:
        return ()
    ours = standing.ours
    if standing.verdict is Verdict.KEEP_MINIMUM and ours is not None:
        kept = keep(snapshot.lws, blueprint, group, ours)
        write = update(kept, ours)
        return (*((write,) if write else ()), *open_gates(group, kept.minimum, ours))
    remade = _release(snapshot, group, blueprint, ours, status)
    desired = desire(snapshot.lws, blueprint, group, ours, releasing=remade[0].uid if remade else "")
    write = update(desired, ours)
    return (
        *((write,) if write else ()),
        *retarget(group, blueprint.template),
        *open_gates(group, desired.minimum, ours),
        *remade,
    )


def _release(
    snapshot: Snapshot, group: Group, blueprint: Blueprint, ours: PodGroup | None, status: GroupStatus
) -> tuple[Change, ...]:
    if not snapshot.settings.release_stranded or status.reason is not Reason.STRANDED or ours is None:
        return ()
    leader = group.leader.metadata if group.leader else None
    if not leader_first(snapshot.lws, blueprint.template, leader):
        return ()
    deletion = release(group, ours.metadata.annotations)
    return (deletion,) if deletion else ()


def _sight(snapshot: Snapshot, group: Group, blueprint: Blueprint | None, standing: Standing) -> Sight:
    return Sight(
        group=group,
        size=blueprint.template.size if blueprint else _size_on_pods(group),
        now=snapshot.now,
        stranded_after=snapshot.settings.stranded_after,
        pod_group=standing.ours,
        in_the_way=standing.problem,
        min_resources=blueprint.min_resources if blueprint else {},
        queues=snapshot.queues,
    )


def _size_on_pods(group: Group) -> int:
    """Size as LWS wrote it on the pods, for a group whose revision is not known."""
    sizes = (pod.metadata.annotations.get(SIZE, "") for pod in group.pods)
    return next((int(text) for text in sizes if text.isascii() and text.isdigit()), 0)


def _is_open(status: GroupStatus) -> bool:
    return status.reason not in {Reason.TERMINATING, Reason.RUNNING, Reason.STARTING, Reason.STRANDED}
