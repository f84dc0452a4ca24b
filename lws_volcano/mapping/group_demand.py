"""What a group asks of the planner, put together from the policies: the bridge from mapping to placement."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lws_volcano.api.cluster import RuntimeClass
from lws_volcano.api.names import EXCLUSIVE_TOPOLOGY, SUBGROUP_EXCLUSIVE_TOPOLOGY
from lws_volcano.api.pods import PodSpec
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.minimum import leader_first
from lws_volcano.mapping.naming import pod_group_name
from lws_volcano.mapping.network_topology import Constraint
from lws_volcano.mapping.placement_wish import PlacementWish
from lws_volcano.placement.demand import Demand, Mode, Rules, SubGroups, group_shapes

__all__ = ["GroupKey", "group_demand", "rules_of"]

Overhead = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey:
    """One group of one revision, and what is known of its members."""

    index: str
    revision: str
    group_key: str = ""
    priority: int = 0
    bound: Mapping[int, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()


def group_demand(
    lws: LeaderWorkerSet,
    template: LeaderWorkerTemplate,
    rules: Rules,
    group: GroupKey,
    runtime_classes: Mapping[str, RuntimeClass] | None = None,
) -> Demand:
    """Demand of one group.

    Raises
    ------
    QuantityError
        A request that Kubernetes would refuse.
    """
    leader, worker = group_shapes(
        template,
        _overhead(template.leader.spec, runtime_classes),
        _overhead(template.worker_template.spec, runtime_classes),
    )
    pod_group = pod_group_name(lws.name, group.index, group.revision)
    return Demand(
        key=f"{lws.namespace}/{pod_group}",
        size=template.size,
        leader=leader,
        worker=worker,
        rules=rules,
        namespace=lws.namespace,
        lws=lws.name,
        group=group.index,
        pod_group=pod_group,
        group_key=group.group_key,
        priority=group.priority,
        bound=group.bound,
        near=group.near,
    )


def rules_of(
    lws: LeaderWorkerSet, template: LeaderWorkerTemplate, constraint: Constraint, wish: PlacementWish
) -> Rules:
    """Rules that all groups of a revision share."""
    asked = constraint.topology
    mode: Mode = "none" if asked is None else "hard" if asked.mode == "hard" else "soft"
    annotations = lws.metadata.annotations
    return Rules(
        mode=mode,
        highest_tier=asked.highest_tier_allowed if asked else None,
        scope="workers" if constraint.workers_only else "group",
        sub_groups=SubGroups.of(template),
        exclusive_key=annotations.get(EXCLUSIVE_TOPOLOGY, ""),
        sub_group_exclusive_key=annotations.get(SUBGROUP_EXCLUSIVE_TOPOLOGY, ""),
        leader_first=leader_first(lws, template),
        placement=wish.placement,
        placement_group=wish.group,
        placement_group_tier=wish.group_tier,
    )


def _overhead(spec: PodSpec, runtime_classes: Mapping[str, RuntimeClass] | None) -> Overhead | None:
    runtime_class = (runtime_classes or {}).get(spec.runtime_class_name)
    return runtime_class.pod_overhead if runtime_class and not spec.overhead else None
