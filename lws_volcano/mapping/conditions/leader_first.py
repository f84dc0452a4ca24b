"""Why the workers of a leader-first group are not there yet.

Rule (FACTS section 1, seen): LWS makes them when the leader is Ready (startupPolicy LeaderReady) or has a node
(exclusive topology). Until then nothing is wrong with the workers, and what holds the leader up is what people must
look at: a released group whose new leader has a node waits in this state.
"""

from lws_volcano.api.workloads import LEADER_READY, LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.conditions.waiting import starting_message
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.minimum import leader_first

__all__ = ["workers_wait"]


def workers_wait(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, group: Group) -> str:
    """What LWS waits for before it makes the workers, empty when it waits for nothing."""
    leader = group.leader
    if leader is None or group.workers or not leader_first(lws, template, leader.metadata):
        return ""
    if not leader.bound:
        return "LeaderWorkerSet makes the workers after the leader has a node"
    ready = leader.condition("Ready")
    if lws.spec.startup_policy != LEADER_READY or (ready is not None and ready.status == "True"):
        return ""
    why = starting_message([leader])
    said = f" ({why})" if why else ""
    return f"the leader has a node and is not Ready yet{said}; LeaderWorkerSet makes the workers when it is"
