"""`plan --explain GROUP`: why this domain, and why not each other."""

from collections.abc import Iterator

from lws_volcano.api.errors import UsageError
from lws_volcano.mapping.whole_plan import PlannedGroup, WholePlan
from lws_volcano.placement.explain import explain
from lws_volcano.placement.plan import GroupPlan

__all__ = ["explain_text"]


def explain_text(plan: WholePlan, wanted: str) -> str:
    """Explanation of one group, with the room that the groups before it left.

    Raises
    ------
    UsageError
        No such group in the plan; the message lists what there is.
    """
    chosen = next((group for group in plan.groups if wanted in _names(group)), None)
    if chosen is None:
        known = ", ".join(next(_names(group)) for group in plan.groups) or "none"
        raise UsageError(f"--explain {wanted}: no such group", mend=f"the groups are {known}")
    if chosen.placed is None:
        return f"{next(_names(chosen))}: {chosen.reason or 'nothing is known of nodes'}"
    with plan.capacity.trial() as trial:
        for before in _before(plan, chosen):
            trial.hold(before.demand, before.nodes)
        return "\n".join(explain(chosen.placed, plan.capacity).lines())


def _names(group: PlannedGroup) -> Iterator[str]:
    """What a group may be called on the command line."""
    offline = group.offline
    short = f"{offline.lws.name}-{offline.index}"
    yield from (f"{offline.lws.namespace}/{short}", short, offline.pod_group)


def _before(plan: WholePlan, chosen: PlannedGroup) -> Iterator[GroupPlan]:
    for group in plan.groups:
        if group is chosen:
            return
        if group.placed is not None and group.placed.feasible:
            yield group.placed
