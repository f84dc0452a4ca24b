"""One pass over one group: its changes, its row, and what it waits for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from lws_volcano.api.names import RELEASED, SIZE, Reason
from lws_volcano.api.volcano import PodGroup
from lws_volcano.mapping.blueprint import Blueprint
from lws_volcano.mapping.changes import Change, DeletePod, GroupStatus, Notice, Whereabouts
from lws_volcano.mapping.conditions.group_status import Sight, group_status
from lws_volcano.mapping.conditions.leader_first import workers_wait
from lws_volcano.mapping.conditions.stranded import stranded_at
from lws_volcano.mapping.diff import update
from lws_volcano.mapping.gates import open_all_gates, open_gates
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.minimum import leader_first
from lws_volcano.mapping.pod_groups import Desired, desire, keep
from lws_volcano.mapping.problems import Problem
from lws_volcano.mapping.release import release
from lws_volcano.mapping.remake import Remake, remake
from lws_volcano.mapping.retarget import report_outsiders, retarget
from lws_volcano.mapping.snapshot import Snapshot
from lws_volcano.mapping.standing import Standing, Verdict, judge
from lws_volcano.mapping.whereabouts import violation, whereabouts

__all__ = ["GroupPlan", "plan_group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """The outcome for one group.

    Attributes
    ----------
    desired
        The PodGroup that it must have now, whether or not it has it; None where nothing may be written.
    wanted
        Its PodGroup is to be there (so clean-up leaves it).
    blocked
        It must come and waits for somebody else's object to go.
    violated
        How what really happened breaks a hard constraint; empty when it is kept.
    recheck_at
        The moment at which time alone changes the outcome.
    """

    group: Group
    desired: Desired | None = None
    changes: tuple[Change, ...] = ()
    wanted: bool = False
    blocked: bool = False
    problem: Problem | None = None
    notice: Notice | None = None
    violated: str = ""
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
    outsiders = report_outsiders(group) if blueprint and blueprint.wanted else None
    status = _status(snapshot, group, blueprint, standing, outsiders)
    released = _release(snapshot, group, blueprint, standing, status)
    remade = _remake(snapshot, group, standing)
    desired = _desired(snapshot, group, blueprint, standing, where=status.where, released=released, remade=remade)
    moment = stranded_at(group, snapshot.settings.stranded_after) if _is_open(status) else None
    moments = [one for one in (moment, remade.recheck_at) if one is not None and one > snapshot.now]
    return GroupPlan(
        group=group,
        desired=desired,
        changes=(*_changes(group, blueprint, standing, desired), *released, *filter(None, [remade.deletion])),
        wanted=standing.verdict in {Verdict.KEEP_UP, Verdict.WAIT, Verdict.LEAVE} and bool(group.members),
        blocked=standing.verdict is Verdict.WAIT and observed is not None,
        problem=standing.problem,
        violated=violation(group, blueprint.constraint, snapshot.topology) if blueprint and blueprint.wanted else "",
        notice=outsiders,
        status=status,
        recheck_at=min(moments, default=None),
    )


def _desired(
    snapshot: Snapshot,
    group: Group,
    blueprint: Blueprint | None,
    standing: Standing,
    *,
    where: Whereabouts | None,
    released: tuple[DeletePod, ...],
    remade: Remake,
) -> Desired | None:
    if blueprint is None:
        return None
    if standing.verdict is Verdict.KEEP_UP:
        releasing = released[0].uid if released else ""
        remaking = remade.deletion.uid if remade.deletion else ""
        return desire(
            snapshot.lws, blueprint, group, standing.ours, where=where, releasing=releasing, remaking=remaking
        )
    if standing.verdict is Verdict.KEEP_MINIMUM and standing.ours is not None:
        return keep(snapshot.lws, blueprint, group, standing.ours)
    return None


def _changes(
    group: Group, blueprint: Blueprint | None, standing: Standing, desired: Desired | None
) -> Iterator[Change]:
    if desired is None or blueprint is None:
        if standing.verdict is Verdict.NONE:
            yield from open_all_gates(group)
        return
    write = update(desired, standing.ours)
    if write is not None:
        yield write
    if standing.verdict is Verdict.KEEP_UP:
        yield from retarget(group, blueprint.template)
    yield from open_gates(group, desired.minimum, standing.ours)


def _release(
    snapshot: Snapshot, group: Group, blueprint: Blueprint | None, standing: Standing, status: GroupStatus
) -> tuple[DeletePod, ...]:
    if not snapshot.settings.release_stranded or status.reason is not Reason.STRANDED:
        return ()
    if blueprint is None or standing.verdict is not Verdict.KEEP_UP or standing.ours is None:
        return ()
    leader = group.leader.metadata if group.leader else None
    if not leader_first(snapshot.lws, blueprint.template, leader):
        return ()
    deletion = release(group, standing.ours.metadata.annotations)
    return (deletion,) if deletion else ()


def _remake(snapshot: Snapshot, group: Group, standing: Standing) -> Remake:
    if standing.verdict is not Verdict.KEEP_UP or standing.ours is None:
        return Remake()
    return remake(group, standing.ours.metadata.annotations, snapshot.places, snapshot.now, snapshot.settings)


def _status(
    snapshot: Snapshot, group: Group, blueprint: Blueprint | None, standing: Standing, outsiders: Notice | None
) -> GroupStatus:
    sight = _sight(snapshot, group, blueprint, standing, outsiders)
    annotations = standing.ours.metadata.annotations if standing.ours else {}
    return replace(group_status(sight), where=whereabouts(group, sight.size, snapshot.topology, annotations))


def _sight(
    snapshot: Snapshot, group: Group, blueprint: Blueprint | None, standing: Standing, outsiders: Notice | None
) -> Sight:
    return Sight(
        group=group,
        size=blueprint.template.size if blueprint else _size_on_pods(group),
        now=snapshot.now,
        stranded_after=snapshot.settings.stranded_after,
        pod_group=standing.ours,
        in_the_way=standing.problem,
        outside=outsiders.message if outsiders else "",
        min_resources=blueprint.min_resources if blueprint else {},
        queues=snapshot.queues,
        workers_wait=workers_wait(snapshot.lws, blueprint.template, group) if blueprint else "",
        released=standing.ours is not None and RELEASED in standing.ours.metadata.annotations,
    )


def _size_on_pods(group: Group) -> int:
    """Size as LWS wrote it on the pods, for a group whose revision is not known."""
    sizes = (pod.metadata.annotations.get(SIZE, "") for pod in group.pods)
    return next((int(text) for text in sizes if text.isascii() and text.isdigit()), 0)


def _is_open(status: GroupStatus) -> bool:
    return status.reason not in {Reason.TERMINATING, Reason.RUNNING, Reason.STARTING, Reason.STRANDED}
