"""Events to be: every problem, and per group what a person should know.

The recorder writes a notice when it is new, so its words hold nothing that changes while its cause lasts. An LWS of a
thousand groups with one trouble needs a few examples, not a thousand Events; the counts are in the condition.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lws_volcano.api.names import Reason
from lws_volcano.mapping.changes import AnnotatePod, DeletePod, Notice
from lws_volcano.mapping.group_plan import GroupPlan
from lws_volcano.mapping.problems import Problem

__all__ = ["notices"]

_MOST: Final = 5
"""Notices with one reason in a pass."""


def notices(problems: Iterable[Problem], plans: Sequence[GroupPlan], stranded_after: float) -> tuple[Notice, ...]:
    """All notices of a pass, problems first, at most a few of each reason."""
    counted: Counter[Reason] = Counter()
    kept = []
    for notice in _all(problems, plans, stranded_after):
        counted[notice.reason] += 1
        if counted[notice.reason] <= _MOST:
            kept.append(notice)
    return tuple(kept)


def _all(problems: Iterable[Problem], plans: Sequence[GroupPlan], stranded_after: float) -> Iterator[Notice]:
    for problem in problems:
        yield Notice(reason=problem.reason, message=problem.message)
    for plan in plans:
        yield from _of_group(plan, stranded_after)


def _of_group(plan: GroupPlan, stranded_after: float) -> Iterator[Notice]:
    index = plan.group.index
    if plan.notice is not None:
        yield plan.notice
    if plan.violated:
        yield Notice(reason=Reason.TOPOLOGY_VIOLATED, message=plan.violated)
    if plan.status.reason is Reason.STRANDED:
        yield Notice(
            reason=Reason.STRANDED,
            message=f"group {index}: some of its pods hold nodes while others have waited over {stranded_after:g} s",
        )
    if any(isinstance(change, AnnotatePod) for change in plan.changes):
        yield Notice(
            reason=Reason.POD_RETARGETED,
            message=f"group {index}: pods came past the webhook and were pointed to PodGroup {plan.group.pod_group}",
        )
    for change in plan.changes:
        if isinstance(change, DeletePod):
            yield Notice(reason=Reason.LEADER_REMADE, message=f"group {index}: its leader is deleted: {change.why}")
