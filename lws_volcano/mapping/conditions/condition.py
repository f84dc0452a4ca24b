"""The condition `lws-volcano.io/GangScheduled` of an LWS, from its rows and problems.

Rule: True when every group that should exist is placed by its PodGroup: as many groups as `spec.replicas` asks for, and
the surge groups that are there. A group whose pods got their nodes outside it is placed, and no gang. A problem that a
person has to mend gives the reason even so, because nobody reads further than the reason; else it is that of most of
the groups that are not placed, with counts.
"""

from collections import Counter
from collections.abc import Sequence

from lws_volcano.api.names import Reason
from lws_volcano.mapping.changes import GangCondition, GroupStatus
from lws_volcano.mapping.problems import Problem, worst

__all__ = ["gang_condition"]

_MAX_EXAMPLES = 3


def gang_condition(replicas: int, rows: Sequence[GroupStatus], problems: Sequence[Problem]) -> GangCondition:
    """Sum up. `rows` without the groups that are only ending."""
    placed = {row.group for row in rows if row.placed >= row.size > 0}
    open_rows = [row for row in rows if row.group not in placed]
    outside = [row for row in rows if row.reason is Reason.POD_NOT_IN_GANG]
    whole = not open_rows and len(placed) >= replicas
    problem = worst(problems)
    total = max(replicas, len({row.group for row in rows}))
    counts = f"{len(placed)} of {total} groups placed"
    if problem is not None:
        # Groups that somebody else makes are not counted: "0 of 3" would be wrong.
        message = problem.message if problem.reason is Reason.STOOD_DOWN else f"{problem.message} ({counts})"
        return GangCondition(status=whole and bool(rows) and not outside, reason=problem.reason, message=message)
    if not replicas and not rows:
        return GangCondition(status=True, reason=Reason.NO_GROUPS, message="spec.replicas is 0: nothing to place")
    if not whole:
        return _waiting(counts, open_rows)
    if outside:
        return _waiting(counts, outside)
    return GangCondition(status=True, reason=Reason.ALL_GROUPS_PLACED, message=counts)


def _waiting(counts: str, open_rows: Sequence[GroupStatus]) -> GangCondition:
    if not open_rows:
        return GangCondition(status=False, reason=Reason.PODS_NOT_CREATED, message=counts)
    by_reason = Counter(row.reason for row in open_rows)
    reason = max(by_reason, key=lambda one: (by_reason[one], one))
    named = [row for row in open_rows if row.reason is reason]
    examples = ", ".join(row.group for row in named[:_MAX_EXAMPLES])
    more = f" and {len(named) - _MAX_EXAMPLES} more" if len(named) > _MAX_EXAMPLES else ""
    detail = f": {named[0].message}" if named[0].message else ""
    return GangCondition(status=False, reason=reason, message=f"{counts}; {reason} (group {examples}{more}){detail}")
