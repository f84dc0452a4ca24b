"""Hints on pods: what makes the scheduler put neighbouring ranks next to each other.

`preferred`
    An *order*: the same terms on every pod of the group, their weights falling along the nodes of each domain where the
    group may land. The levels are written in binary, term b listing the nodes whose level has bit b. On top a *rank
    map*: the node planned for this pod's rank in each candidate domain, with the top weight.
`required`
    In addition one required expression, the same on every pod: the nodes of the planned domain (of the placement
    group's domain, for groups that have one).
leader-first groups
    The leader alone must go to a domain that can hold the whole group now.

Nothing here needs a cluster: a worker's hints follow from the annotation on its leader and the topology, so every
replica gives the same. Terms are added after the user's own; a requirement is added to each of the user's terms, which
the scheduler takes as alternatives.

Notes
-----
Weights and shapes were measured on Volcano with its default plugins and network-topology-aware. The scheduler
normalises scores to 0-100 relative to the best candidate, so only ratios count.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lws_volcano.api.names import HOSTNAME, PLACE_LABEL, PLAN, TASK_PRIORITY
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.order import LEVELS, levels_of, order_for
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.plan_format import Note, read_annotation, write_annotation
from lws_volcano.topology.model import Topology

__all__ = ["PodHints", "add_to_affinity", "leader_hints", "member_hints", "replacement_hints", "task_priority"]

Hostname = Callable[[str], str]
"""Node name -> value of its host name label."""

_TOP: Final = 100
"""Most that Kubernetes takes as a weight; above the sum of an order's weights."""
_WIDE: Final = 3
"""Factor of an order's weights while their sum stays below the top."""


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
    labels: bool = False,
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
    labels : bool
        Write the order over the labels of `order.place_labels` instead of host lists.
    """
    if plan.demand.rules.placement == "none":
        return PodHints()
    text = write_annotation(plan, order_for(plan, capacity))
    added = {PLAN: text, **task_priority(priority, annotations or {})}
    if plan.demand.bound:
        return replace(replacement_hints(plan, 0, capacity), annotations=added)
    note = read_annotation(text)
    hints = member_hints(note, 0, capacity.topology, capacity.hostname, labels=labels)
    # the annotation lists fewer domains than may hold the group, and a required term must not leave any out
    whole = replace(note, alternatives=plan.alternatives)
    required = tuple(_required(whole, 0, capacity.topology, capacity.hostname))
    return replace(hints, required=required, annotations=added)


def task_priority(priority: int | None, annotations: Mapping[str, str]) -> dict[str, str]:
    """The annotation that puts a leader before its workers, unless the user set one.

    Volcano takes a group's pods by this number and then by the last number in their names; for a leader that is the
    index of its group.
    """
    return {} if TASK_PRIORITY in annotations else {TASK_PRIORITY: str((priority or 0) + 1)}


def member_hints(
    note: Note, rank: int, topology: Topology | None, hostname: Hostname = str, *, labels: bool = False
) -> PodHints:
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
    labels : bool
        As in `leader_hints`.
    """
    if note.placement == "none":
        return PodHints()
    terms = [*_rank_map(note, rank, hostname), *_order(note, topology, hostname, labels=labels)]
    return PodHints(preferred=tuple(terms), required=tuple(_required(note, rank, topology, hostname)))


def replacement_hints(plan: GroupPlan, rank: int, capacity: Capacity) -> PodHints:
    """Hints of a lost member that comes back to a group whose others run: the nearer to them, the heavier.

    `plan` is made with the others as bound members.
    """
    topology = capacity.topology
    if not plan.feasible or plan.demand.rules.placement == "none":
        return PodHints()
    node = plan.nodes[rank]
    terms = [_term(_TOP, [node], capacity.hostname)]
    if topology is not None and node in topology.place_of:
        weight = _TOP // 2
        for index in topology.ancestors(topology.domain_of[topology.place_of[node]]):
            if len(topology.domains[index]) <= LEVELS and weight:
                terms.append(_term(weight, topology.members(index), capacity.hostname))
                weight //= 2
    return PodHints(preferred=tuple(terms))


def _rank_map(note: Note, rank: int, hostname: Hostname) -> list[dict[str, Any]]:
    """The nodes planned for this rank, in every candidate domain or (nothing binds the group) in the chosen one."""
    if not note.feasible:
        return []
    strung = note.order is None or note.order.strung
    nodes = [note.nodes[rank]] if rank < len(note.nodes) else []
    if not strung:
        nodes += [one.nodes[rank] for one in note.alternatives if rank < len(one.nodes)]
    return [_term(_TOP, dict.fromkeys(nodes), hostname)] if nodes else []


def _order(note: Note, topology: Topology | None, hostname: Hostname, *, labels: bool) -> list[dict[str, Any]]:
    """The order in binary weights."""
    if note.order is None or topology is None:
        return []
    levels = levels_of(topology, note.order)
    if labels and not note.order.strung:
        key = f"{PLACE_LABEL}{note.order.tier}"
        by_value = {str(level): level for level in sorted(set(levels.values()))}
        return _binary(by_value, key)
    return _binary({hostname(node): level for node, level in levels.items()}, HOSTNAME)


def _binary(levels: Mapping[str, int], key: str) -> list[dict[str, Any]]:
    highest = max(levels.values(), default=0)
    factor = _WIDE if _WIDE * highest < _TOP else 1
    terms: list[dict[str, Any]] = []
    for bit in reversed(range(highest.bit_length())):
        values = [value for value, level in levels.items() if level >> bit & 1]
        terms.append({"weight": factor << bit, "preference": {"matchExpressions": [_in(key, values)]}})
    return terms


def _required(note: Note, rank: int, topology: Topology | None, hostname: Hostname) -> list[dict[str, Any]]:
    """Nodes that the pod must keep to: of the planned domain, or for a leader that comes first of all that fit."""
    if topology is None or not note.feasible:
        return []
    domains: Sequence[str] = ()
    if note.placement == "required" or note.within:
        domains = [note.within or note.domain]
    elif note.leader_first and rank == 0:
        domains = [one.domain for one in note.alternatives]
    known = [topology.index_of[name] for name in domains if name in topology.index_of]
    nodes = dict.fromkeys(node for index in known for node in topology.members(index))
    return [_in(HOSTNAME, list(map(hostname, nodes)))] if nodes else []


def _term(weight: int, nodes: Iterable[str], hostname: Hostname) -> dict[str, Any]:
    return {"weight": weight, "preference": {"matchExpressions": [_in(HOSTNAME, list(map(hostname, nodes)))]}}


def _in(key: str, values: list[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": values}


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
