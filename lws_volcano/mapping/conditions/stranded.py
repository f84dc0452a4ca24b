"""A stranded group: some of its members have a node, others have waited for one longer than a limit.

Rule (issue "A PodGroup that stays true", row 1b): while the leader of a leader-first group runs alone, another workload
can take the room of its workers; the same can happen when a member is replaced. The clock starts with the later of the
last binding and the creation of the longest-waiting member.
"""

from datetime import datetime, timedelta

from lws_volcano.api.pods import Pod
from lws_volcano.mapping.groups import Group

__all__ = ["stranded_at"]


def stranded_at(group: Group, limit: float) -> datetime | None:
    """The moment from which the group counts as stranded, None when it is whole, empty or without times."""
    bound = [pod for pod in group.members.values() if pod.bound]
    waiting = [pod.metadata.creation_timestamp for pod in group.members.values() if not pod.bound]
    created = [moment for moment in waiting if moment is not None]
    if not bound or not created:
        return None
    bindings = [moment for pod in bound if (moment := _bound_at(pod)) is not None]
    return max([min(created), *bindings]) + timedelta(seconds=limit)


def _bound_at(pod: Pod) -> datetime | None:
    scheduled = pod.condition("PodScheduled")
    return (scheduled.last_transition_time if scheduled else None) or pod.metadata.creation_timestamp
