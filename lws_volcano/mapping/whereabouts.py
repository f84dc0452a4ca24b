"""Where a group really sits: how wide, how dear its ring, and whether that is what was planned and asked for.

Rule (issue "Where each pod goes", part 5): a hard wish that was broken by what really happened (the plugin is off, the
HyperNodes were other ones then, a pod came past the webhook) is said in an Event, because nobody else says it.
"""

from collections.abc import Mapping, Sequence

from lws_volcano.api.errors import InputError
from lws_volcano.api.names import PLAN
from lws_volcano.mapping.changes import Whereabouts
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.network_topology import Constraint
from lws_volcano.placement.plan_format import Note, read_annotation
from lws_volcano.topology.model import ACROSS, Topology

__all__ = ["violation", "whereabouts"]


def whereabouts(group: Group, size: int, topology: Topology | None, observed: Mapping[str, str]) -> Whereabouts | None:
    """None while a pod has no node, and without a topology; `observed` are the PodGroup's annotations."""
    nodes = [pod.spec.node_name for pod in group.members.values() if pod.bound]
    if topology is None or len(nodes) < max(size, 1):
        return None
    domain, tier = _span(nodes, topology)
    note = _note(group, observed)
    planned = None if note is None else list(note.nodes)
    return Whereabouts(
        domain=domain,
        tier=tier,
        ring_cost=_ring_cost(nodes, topology),
        planned_cost=None if planned is None else _ring_cost(planned, topology),
        followed=None if note is None else any(list(one.nodes) == nodes for one in note.landings),
    )


def violation(group: Group, constraint: Constraint, topology: Topology | None) -> str:
    """How a hard constraint is broken by the pods that have nodes; empty when it is kept."""
    asked = constraint.topology
    if topology is None or asked is None or asked.mode != "hard" or asked.highest_tier_allowed is None:
        return ""
    inside = [pod for rank, pod in group.members.items() if pod.bound and (rank or not constraint.workers_only)]
    nodes = [pod.spec.node_name for pod in inside]
    if len(set(nodes)) <= 1:
        return ""
    domain, tier = _span(nodes, topology)
    if tier <= asked.highest_tier_allowed:
        return ""
    where = f"over {domain} (tier {tier})" if domain else "over several trees"
    return f"group {group.index} sits {where}, but tier {asked.highest_tier_allowed} was asked for as hard"


def _span(nodes: Sequence[str], topology: Topology) -> tuple[str, int]:
    places = [topology.place_of.get(node) for node in nodes]
    above = topology.top_tier + 1
    known = [place for place in places if place is not None]
    if len(set(nodes)) == 1:
        return (topology.domains[topology.domain_of[known[0]]].name if known else "", 0)
    if len(known) < len(places):
        return "", above
    # Places are depth-first: what holds the first and the last holds all between them.
    index = topology.meeting(min(known), max(known))
    return ("", above) if index == ACROSS else (topology.domains[index].name, topology.domains[index].tier)


def _ring_cost(nodes: Sequence[str], topology: Topology) -> float:
    return sum(_hop(nodes[at - 1], nodes[at], topology) for at in range(len(nodes)))


def _hop(left: str, right: str, topology: Topology) -> float:
    if left == right:
        return 0.0
    places = topology.place_of.get(left), topology.place_of.get(right)
    if places[0] is None or places[1] is None:
        return 1.0 / float(topology.across_bandwidth)
    return 1.0 / float(topology.bandwidth_between(places[0], places[1]))


def _note(group: Group, observed: Mapping[str, str]) -> Note | None:
    leader = group.leader
    text = (leader.metadata.annotations.get(PLAN) if leader else None) or observed.get(PLAN)
    try:
        note = read_annotation(text) if text else None
    except InputError:
        return None
    return note if note is not None and note.feasible else None
