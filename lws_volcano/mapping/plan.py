"""One pass over one LeaderWorkerSet: which PodGroups must exist, and what to change.

`plan_lws` is a pure function of its snapshot: it looks at what is there, never at what happened. Applying its changes
and planning again gives no change. Changes come in the order in which they must be made: PodGroups that nobody needs
go first (they hold queue room that a new one may need), then PodGroups, then what depends on them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lws_volcano.api.names import LWS_NAME, Reason
from lws_volcano.mapping.blueprint import Blueprint, draw
from lws_volcano.mapping.changes import (
    AnnotatePod,
    ApplyPodGroup,
    Change,
    DeletePod,
    DeletePodGroup,
    GangCondition,
    GroupStatus,
    LwsPlan,
    RemoveGate,
)
from lws_volcano.mapping.clean_up import clean_up
from lws_volcano.mapping.conditions.condition import gang_condition
from lws_volcano.mapping.conditions.group_status import missing_groups
from lws_volcano.mapping.conditions.notices import notices
from lws_volcano.mapping.conditions.unmade import name_without_pods
from lws_volcano.mapping.group_plan import GroupPlan, plan_group
from lws_volcano.mapping.groups import group_pods
from lws_volcano.mapping.problems import Problem
from lws_volcano.mapping.restart import returning
from lws_volcano.mapping.revision import templates
from lws_volcano.mapping.snapshot import Snapshot

__all__ = ["Survey", "plan_lws", "survey"]

_ORDER: Final = (DeletePodGroup, ApplyPodGroup, AnnotatePod, RemoveGate, DeletePod)


def plan_lws(snapshot: Snapshot) -> LwsPlan:
    """Decide for one LeaderWorkerSet."""
    return survey(snapshot).outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A pass in full: what `plan_lws` returns, and what it was put together from."""

    outcome: LwsPlan
    live: Blueprint
    plans: tuple[GroupPlan, ...]
    problems: tuple[Problem, ...]


def survey(snapshot: Snapshot) -> Survey:
    """Decide for one LeaderWorkerSet, and keep the parts."""
    lws = snapshot.lws
    live = draw(snapshot, lws.spec.leader_worker_template)
    blueprints = {
        revision: draw(snapshot, template) for revision, template in templates(lws, snapshot.revisions).items()
    }
    observed = {pod_group.name: pod_group for pod_group in snapshot.pod_groups}
    plans = tuple(
        plan_group(snapshot, group, blueprints.get(group.revision), observed.get(group.pod_group))
        for group in group_pods(pod for pod in snapshot.pods if pod.metadata.labels.get(LWS_NAME) == lws.name)
    )
    used = tuple(dict.fromkeys(plan.group.revision for plan in plans if plan.group.revision in blueprints))
    in_use = [blueprints[revision] for revision in used]
    managed = live.wanted or any(blueprint.wanted for blueprint in in_use)
    rows = _rows(snapshot, live, plans) if managed else ()
    unnamed = name_without_pods(lws.name, rows)
    problems = tuple(dict.fromkeys([*_problems(live, in_use, plans), *((unnamed,) if unnamed else ())]))
    wanted = {plan.group.pod_group for plan in plans if plan.wanted}
    if live.wanted and live.refusal is None:
        groups = (plan.group for plan in plans)
        wanted |= returning(lws, snapshot.revisions, groups, snapshot.pod_groups)
    outcome = LwsPlan(
        changes=(*clean_up(lws, snapshot.pods, snapshot.pod_groups, wanted), *_in_order(plans)),
        condition=_condition(snapshot, rows, problems, managed=managed),
        notices=notices(problems, plans, snapshot.settings.stranded_after),
        groups=rows,
        recheck_after=_recheck_after(snapshot, plans),
        blocked=tuple(plan.group.pod_group for plan in plans if plan.blocked),
    )
    return Survey(outcome=outcome, live=live, plans=plans, problems=problems)


def _in_order(plans: Sequence[GroupPlan]) -> list[Change]:
    """Sort by sort: PodGroups of all groups, pods pointed to them, gates, and at last leaders that are deleted."""
    made = (change for plan in plans for change in plan.changes)
    return sorted(made, key=lambda change: _ORDER.index(type(change)))


def _problems(live: Blueprint, used: Sequence[Blueprint], plans: Sequence[GroupPlan]) -> Iterator[Problem]:
    """Everything a person has to mend, of the live template and of the revisions that have pods."""
    for blueprint in (live, *used):
        if blueprint.wanted:
            yield from blueprint.problems
        else:
            yield from (live.stood_down,) if live.stood_down else live.asked.problems
    yield from (plan.problem for plan in plans if plan.problem and plan.problem.reason is Reason.NAME_TOO_LONG)
    yield from (plan.problem for plan in plans if plan.problem and plan.blocked)


def _rows(snapshot: Snapshot, live: Blueprint, plans: Sequence[GroupPlan]) -> tuple[GroupStatus, ...]:
    there = tuple(plan.status for plan in plans)
    spec = snapshot.lws.spec
    return (*there, *missing_groups(spec.replicas, live.template.size, there))


def _condition(
    snapshot: Snapshot, rows: Sequence[GroupStatus], problems: Sequence[Problem], *, managed: bool
) -> GangCondition | None:
    if not managed and not problems:
        return None
    counted = [row for row in rows if row.reason is not Reason.TERMINATING]
    return gang_condition(snapshot.lws.spec.replicas, counted, problems)


def _recheck_after(snapshot: Snapshot, plans: Sequence[GroupPlan]) -> float | None:
    moments = [plan.recheck_at for plan in plans if plan.recheck_at is not None]
    return (min(moments) - snapshot.now).total_seconds() if moments else None
