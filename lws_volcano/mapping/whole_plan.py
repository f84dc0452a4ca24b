"""Everything the controller would write, and where each pod would go: the plan of a whole inventory.

Groups are planned in order of the priority of their leader, then in the order of the input, each seeing what the
earlier ones took. What cannot be placed whole has no pods: never half a group.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import InputError, QuantityError
from lws_volcano.api.names import GANG, GROUP_KEY
from lws_volcano.api.quantity import format_resources
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.group_demand import GroupKey, group_demand, rules_of
from lws_volcano.mapping.inventory import Inventory
from lws_volcano.mapping.offline import OfflineGroup, OfflinePlan, plan_offline
from lws_volcano.mapping.placement_wish import placement_wish
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.planner import plan_groups
from lws_volcano.topology.hypernodes import desired_hypernodes

__all__ = ["PlannedGroup", "WholePlan", "plan_everything"]

ASSUMED: Final = "no Node in the input: every node of the topology is taken as free, with room for one pod"
MOST_PODS: Final = 200_000
UNKNOWN: Final = "no Node and no topology in the input: nothing is known of room"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGroup:
    """One group: its PodGroup and its place.

    Attributes
    ----------
    placed
        Outcome of the planner; None where the group gets no PodGroup, or nothing is known of nodes.
    reason
        Why it cannot be placed, or gets no PodGroup, for a person; empty when it can.
    """

    offline: OfflineGroup
    placed: GroupPlan | None
    reason: str = ""

    @property
    def feasible(self) -> bool | None:
        """Whether the whole group fits now; None when nothing is known of nodes, or it runs outside any gang."""
        if self.offline.outside:
            return None
        return False if self.reason else self.placed.feasible if self.placed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholePlan:
    """The outcome; `capacity` is the room before anything of it was placed."""

    groups: tuple[PlannedGroup, ...]
    pod_groups: tuple[Mapping[str, Any], ...]
    hyper_nodes: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    refused: tuple[str, ...]
    capacity: Capacity

    @property
    def feasible(self) -> bool:
        """Nothing was refused and every group fits, as far as is known."""
        return not self.refused and all(group.feasible is not False for group in self.groups)


def plan_everything(inventory: Inventory, *, write_hyper_nodes: bool = True) -> WholePlan:
    """Plan an inventory; the same inventory gives the same plan, whatever the order of its nodes and pods.

    Raises
    ------
    InputError
        A node or a pod has a quantity that Kubernetes would refuse, or there are more pods than a plan can show.
    """
    _check_size(inventory.sets)
    offline = [plan_offline(inventory.snapshot(lws)) for lws in inventory.sets]
    wanted = [_Wanted(inventory, plan, group) for plan in offline for group in plan.groups if plan.wanted]
    wanted.sort(key=lambda one: -one.priority)  # a stable sort: equals stay in the order of the input
    demands = [one.demand for one in wanted if one.demand is not None]
    nodes = inventory.nodes or tuple(_assumed(inventory, demands))
    capacity = _capacity(replace(inventory, nodes=nodes))
    plans = iter(plan_groups(demands, capacity) if nodes else ())
    groups = [one.planned(next(plans, None) if one.demand is not None else None) for one in wanted]
    assumed = () if inventory.nodes or not wanted else (ASSUMED if nodes else UNKNOWN,)
    topology = inventory.topology
    return WholePlan(
        groups=tuple(groups),
        pod_groups=tuple(one.group.manifest for one in wanted if one.group.manifest),
        hyper_nodes=tuple(one.manifest() for one in desired_hypernodes(topology))
        if topology and write_hyper_nodes
        else (),
        warnings=tuple(dict.fromkeys([*assumed, *_warnings(inventory, offline)])),
        refused=tuple(f"{_key(plan)}: {plan.refusal.message}" for plan in offline if plan.refusal),
        capacity=capacity,
    )


def _check_size(sets: Iterable[LeaderWorkerSet]) -> None:
    """A slip such as `replicas: 1000000000` gets an answer instead of taking all memory."""
    pods = 0
    for lws in sets:
        pods += max(lws.spec.replicas, 0) * max(lws.spec.leader_worker_template.size, 1)
        if pods > MOST_PODS:
            raise InputError(
                f"asks for more pods than a plan can show ({MOST_PODS})",
                where=f"LeaderWorkerSet {lws.key}",
                mend="check spec.replicas and spec.leaderWorkerTemplate.size, or plan fewer objects at a time",
            )


class _Wanted:
    """A group that asks for a gang, on its way to a plan."""

    def __init__(self, inventory: Inventory, plan: OfflinePlan, group: OfflineGroup) -> None:
        self.group = group
        self.priority = inventory.priority(group.template.leader.spec)
        self.reason = "" if group.manifest or group.problem is None else group.problem.message
        self.demand = None if self.reason or group.manifest is None else self._demand(inventory, plan)

    def _demand(self, inventory: Inventory, plan: OfflinePlan) -> Demand:
        group, lws = self.group, plan.lws
        blueprint = group.blueprint or plan.blueprint
        wish = placement_wish(lws, inventory.settings, inventory.topology)
        rules = rules_of(lws, group.template, blueprint.constraint, wish)
        keys = sorted({pod.metadata.labels.get(GROUP_KEY, "") for pod in group.members.values()} - {""})
        known = GroupKey(
            index=group.index,
            revision=group.revision,
            group_key=keys[0] if keys else "",
            priority=self.priority,
            bound={rank: pod.spec.node_name for rank, pod in group.members.items() if pod.bound},
        )
        return group_demand(lws, group.template, rules, known, inventory.runtime_classes)

    def planned(self, placed: GroupPlan | None) -> PlannedGroup:
        reason = self.reason or self.group.outside or ("" if placed is None or placed.feasible else placed.reason)
        return PlannedGroup(offline=self.group, placed=placed, reason=reason)


def _capacity(inventory: Inventory) -> Capacity:
    capacity = Capacity(inventory.topology)
    for node in sorted(inventory.nodes, key=lambda one: one.name):
        with _naming(f"Node {node.name}"):
            capacity.upsert_node(node)
    for pod in sorted(inventory.pods, key=lambda one: one.key):
        with _naming(f"Pod {pod.key}"):
            capacity.bind(pod)
    return capacity


class _naming:  # noqa: N801 - used as a statement
    """Says which object a bad quantity is in."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, QuantityError):
            raise InputError(error.what, where=f"{self._what}: {error.where}", mend=error.mend) from None


def _assumed(inventory: Inventory, demands: Sequence[Demand]) -> Iterator[Node]:
    """Nodes of the topology as large as the largest pod, with one slot each."""
    if inventory.topology is None:
        return
    largest: dict[str, int] = {}
    for demand in demands:
        for name, nano in (*demand.leader.requests, *demand.worker.requests):
            largest[name] = max(largest.get(name, 0), nano)
    room = {**format_resources(largest), "pods": "1"}
    for name in inventory.topology.nodes:
        labels = {"kubernetes.io/hostname": name}
        yield Node.parse(
            {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": room}}
        )


def _warnings(inventory: Inventory, plans: Iterable[OfflinePlan]) -> Iterator[str]:
    for plan in plans:
        # A value that is not allowed is a problem of its own and says more.
        if not (plan.blueprint.asked.wanted or plan.blueprint.asked.problems):
            yield f'{_key(plan)}: no gang is asked for; set {GANG}: "true" in its annotations'
        for problem in plan.problems:
            yield f"{_key(plan)}: {problem.message}"
        yield from (f"{_key(plan)}: {outside}" for outside in plan.outside)
        for problem in placement_wish(plan.lws, inventory.settings, inventory.topology).problems:
            yield f"{_key(plan)}: {problem.message}"
    if inventory.topology is not None:
        yield from (str(finding) for finding in inventory.topology.warnings)


def _key(plan: OfflinePlan) -> str:
    return f"LeaderWorkerSet {plan.lws.key}"
