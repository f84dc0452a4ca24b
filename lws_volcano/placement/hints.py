"""Hints on pods: what makes the scheduler put neighbouring ranks next to each other.

`preferred`
    A *rank window* (`window`) over the domains where the group may land. Without a plan an *order* (`order`),
    the same on every pod. Where the scheduler would not look at all nodes in question (`landing.sampled`), nothing.
`required`
    In addition one required expression: the nodes of the racks that the plan uses. The same on every pod, or, where the
    scheduler places sub-groups each by itself, on every pod of a sub-group. Also for groups that are kept near others:
    companions were planned near these racks, and hold others.
leader-first groups
    The leader alone must go to a domain that can hold the whole group now.

Nothing here needs a cluster: a worker's hints follow from the annotation on its leader and the topology, so every
replica gives the same. Terms are added after the user's own; a requirement is added to each of the user's terms, which
the scheduler takes as alternatives.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lws_volcano.api.names import HOSTNAME, PLAN, TASK_PRIORITY
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.landing import landings, roomy_nodes, sampled
from lws_volcano.placement.order import Order, order_for, order_terms
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.plan_format import Note, write_annotation
from lws_volcano.placement.window import Weighted, window
from lws_volcano.topology.model import Topology

__all__ = [
    "PodHints",
    "add_to_affinity",
    "leader_hints",
    "member_hints",
    "order_hints",
    "replacement_hints",
    "task_priority",
]

Hostname = Callable[[str], str]
"""Node name -> value of its host name label."""

_TOP: Final = 100
"""Most that Kubernetes takes as a weight."""
_NEAR_NODES: Final = 100
"""Largest domain that is listed to draw a lost member back to its group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodHints:
    """What is added to one pod.

    Attributes
    ----------
    preferred
        Preferred scheduling terms, to come after the user's own.
    required
        Node selector requirements, to be added to each of the user's required terms.
    annotations
        On leaders: the plan, and the task priority.
    """

    preferred: tuple[Mapping[str, Any], ...] = ()
    required: tuple[Mapping[str, Any], ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


def leader_hints(
    plan: GroupPlan,
    capacity: Capacity,
    *,
    priority: int | None = None,
    annotations: Mapping[str, str] | None = None,
    looks_at_all: bool = False,
    sub_groups_apart: bool = False,
    alone: bool = True,
) -> PodHints:
    """Hints of a leader whose group was just planned: the plan goes onto it.

    Parameters
    ----------
    plan : GroupPlan
        Also an infeasible one: then the order alone is given.
    capacity : Capacity
        What the plan was made from.
    priority : int, optional
        The leader pod's own priority.
    annotations : mapping, optional
        The leader pod's annotations; a task priority that the user set is kept.
    looks_at_all : bool
        The scheduler looks at all nodes of a large cluster for every pod.
    sub_groups_apart : bool
        The PodGroup has the sub-groups as policies, so that the scheduler places each by itself.
    alone : bool
        No other group waits for a place, or is about to: see `landing.roomy_nodes`.
    """
    if plan.demand.rules.placement == "none":
        return PodHints()
    text, note = write_annotation(
        plan,
        order=None if plan.feasible else order_for(plan, capacity),
        landings=landings(plan, capacity),
        unseen=not looks_at_all and sampled(plan, capacity),
        sub_groups=plan.demand.split if sub_groups_apart else None,
    )
    added = {PLAN: text, **task_priority(priority, annotations or {})}
    if plan.demand.bound:
        return replace(replacement_hints(plan, 0, capacity), annotations=added)
    required = _required(note, 0, capacity.topology, capacity.hostname)
    if note.leader_first and not required:
        required = _one_of(roomy_nodes(plan, capacity, alone=alone), capacity.hostname)
    preferred = _preferred(note, 0, capacity.topology, capacity.hostname, narrowed=bool(required))
    return PodHints(preferred=preferred, required=required, annotations=added)


def task_priority(priority: int | None, annotations: Mapping[str, str]) -> dict[str, str]:
    """The annotation that puts a leader before its workers, unless the user set one.

    Volcano takes a group's pods by this number and then by the last number in their names; for a leader that is the
    index of its group.
    """
    return {} if TASK_PRIORITY in annotations else {TASK_PRIORITY: str((priority or 0) + 1)}


def member_hints(note: Note, rank: int, topology: Topology | None, hostname: Hostname = str) -> PodHints:
    """Hints of one pod from the annotation of its leader.

    Parameters
    ----------
    note : Note
        From `plan_format.read_annotation`.
    rank : int
        Worker index; 0 is the leader.
    topology : Topology, optional
        As this replica has it; domains that it does not know are left out.
    hostname : callable
        `Capacity.hostname`.
    """
    if note.placement == "none":
        return PodHints()
    required = _required(note, rank, topology, hostname)
    return PodHints(preferred=_preferred(note, rank, topology, hostname, narrowed=bool(required)), required=required)


def order_hints(plan: GroupPlan, capacity: Capacity, *, looks_at_all: bool = False) -> PodHints:
    """Hints of a member whose leader's plan is not known here: the order alone, which is the same on every replica.

    `plan` may differ from the one that the other members follow.
    """
    if plan.demand.rules.placement == "none" or (not looks_at_all and sampled(plan, capacity)):
        return PodHints()
    return PodHints(preferred=_ordered(order_for(plan, capacity), capacity.topology, capacity.hostname))


def replacement_hints(plan: GroupPlan, rank: int, capacity: Capacity) -> PodHints:
    """Hints of a lost member that comes back to a group whose others run: the nearer to them, the heavier.

    `plan` is made with the others as bound members.
    """
    topology = capacity.topology
    if not plan.feasible or plan.demand.rules.placement == "none":
        return PodHints()
    node = plan.nodes[rank]
    terms: list[Weighted] = [(_TOP, (node,))]
    if topology is not None and node in topology.place_of:
        weight = _TOP // 2
        for index in topology.ancestors(topology.domain_of[topology.place_of[node]]):
            if len(topology.domains[index]) <= _NEAR_NODES and weight:
                terms.append((weight, topology.members(index)))
                weight //= 2
    return PodHints(preferred=_terms(terms, capacity.hostname))


def _preferred(
    note: Note, rank: int, topology: Topology | None, hostname: Hostname, *, narrowed: bool
) -> tuple[Mapping[str, Any], ...]:
    """The window, or the order without a plan; nothing for nodes that the scheduler may not look at."""
    if note.unseen and not narrowed:
        return ()
    if note.feasible:
        return _terms(window(note.landings, rank), hostname)
    return _ordered(note.order, topology, hostname)


def _ordered(order: Order | None, topology: Topology | None, hostname: Hostname) -> tuple[Mapping[str, Any], ...]:
    if order is None or topology is None:
        return ()
    return _terms(order_terms(topology, order), hostname)


def _required(note: Note, rank: int, topology: Topology | None, hostname: Hostname) -> tuple[Mapping[str, Any], ...]:
    """Nodes that the pod must keep to, with `required` or for the sake of a placement group."""
    if not note.feasible or topology is None or not (note.placement == "required" or note.within):
        return ()
    return _one_of(_racks_of(note.fellows(rank), topology), hostname)


def _racks_of(nodes: Iterable[str], topology: Topology) -> list[str]:
    """All nodes that share the lowest domain of one of these."""
    found: dict[str, None] = {}
    for node in nodes:
        place = topology.place_of.get(node)
        beside = () if place is None else topology.attached[topology.domain_of[place]]
        found.update(dict.fromkeys([node, *(topology.nodes[other] for other in beside)]))
    return sorted(found, key=lambda node: (topology.place_of.get(node, len(topology.nodes)), node))


def _one_of(nodes: Sequence[str], hostname: Hostname) -> tuple[Mapping[str, Any], ...]:
    return (_in(nodes, hostname),) if nodes else ()


def _terms(weighted: Iterable[Weighted], hostname: Hostname) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"weight": weight, "preference": {"matchExpressions": [_in(nodes, hostname)]}} for weight, nodes in weighted
    )


def _in(nodes: Iterable[str], hostname: Hostname) -> dict[str, Any]:
    return {"key": HOSTNAME, "operator": "In", "values": list(map(hostname, nodes))}


def add_to_affinity(affinity: Mapping[str, Any] | None, hints: PodHints) -> dict[str, Any]:
    """A pod's `spec.affinity` with the hints added after the user's own terms; nothing of theirs is changed."""
    merged = dict(affinity or {})
    node = dict(merged.get("nodeAffinity") or {})
    if hints.preferred:
        key = "preferredDuringSchedulingIgnoredDuringExecution"
        node[key] = [*(node.get(key) or []), *hints.preferred]
    if hints.required:
        key = "requiredDuringSchedulingIgnoredDuringExecution"
        terms = (node.get(key) or {}).get("nodeSelectorTerms") or [{}]
        node[key] = {"nodeSelectorTerms": [_narrowed(term, hints.required) for term in terms]}
    return {**merged, "nodeAffinity": node} if node else merged


def _narrowed(term: Mapping[str, Any], required: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {**term, "matchExpressions": [*(term.get("matchExpressions") or []), *required]}
