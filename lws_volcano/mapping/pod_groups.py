"""The PodGroup that one group must have, as the manifest that is applied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lws_volcano.api.names import (
    GROUP_INDEX,
    LWS_API,
    LWS_NAME,
    MANAGED_BY,
    MANAGER,
    PLAN,
    PODGROUP_API,
    REVISION_HASH,
)
from lws_volcano.api.volcano import PodGroup, PodGroupSpec
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.annotations import copied_annotations, our_annotations, plan_annotation
from lws_volcano.mapping.blueprint import Blueprint
from lws_volcano.mapping.changes import Whereabouts
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.minimum import Minimum, minimum
from lws_volcano.mapping.placed import placed_annotation
from lws_volcano.mapping.release import release_annotation
from lws_volcano.mapping.remake import remake_annotation

__all__ = ["Desired", "desire", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """The PodGroup of a group; `spec` holds exactly the fields that we set."""

    group: Group
    minimum: Minimum
    spec: PodGroupSpec
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    owner: Mapping[str, Any]
    namespace: str

    @property
    def name(self) -> str:
        """Name of the PodGroup."""
        return self.group.pod_group

    def manifest(self) -> dict[str, Any]:
        """Body of the server-side apply."""
        metadata: dict[str, Any] = {
            "name": self.name,
            "namespace": self.namespace,
            "labels": dict(self.labels),
            "ownerReferences": [dict(self.owner)],
        }
        if self.annotations:
            metadata["annotations"] = dict(sorted(self.annotations.items()))
        return {
            "apiVersion": PODGROUP_API,
            "kind": "PodGroup",
            "metadata": metadata,
            "spec": self.spec.manifest(),
        }


def desire(
    lws: LeaderWorkerSet,
    blueprint: Blueprint,
    group: Group,
    observed: PodGroup | None,
    *,
    where: Whereabouts | None = None,
    releasing: str = "",
    remaking: str = "",
) -> Desired:
    """Put a revision's blueprint and a group's state together.

    `observed` is the group's PodGroup where it is ours: its queue stays while the one asked for takes no PodGroups, and
    its minimum and plan stay while the group has no leader. `where` is where the group sits. `releasing` and
    `remaking` are UIDs of a leader that is about to be deleted: the group is stranded, or its place is lost.
    """
    smallest = minimum(lws, blueprint.template, group, observed)
    queue = observed.spec.queue if observed and blueprint.hold else blueprint.queue
    before = observed.metadata.annotations if observed else {}
    whole = _is_whole(group, blueprint)
    plan = plan_annotation(group.leader, before)
    annotations = {
        **copied_annotations(lws),
        **plan,
        **placed_annotation(before, where, same_plan=plan.get(PLAN) == before.get(PLAN)),
        **release_annotation(before, releasing=releasing, whole=whole),
        **remake_annotation(before, remaking=remaking, whole=whole),
    }
    return _desired(lws, group, smallest, _spec(blueprint, smallest, queue), annotations)


def keep(lws: LeaderWorkerSet, blueprint: Blueprint, group: Group, observed: PodGroup) -> Desired:
    """The PodGroup as it is, but for the minimum."""
    smallest = minimum(lws, blueprint.template, group, observed)
    there = observed.spec
    fields = {
        name: value
        for name in ("priority_class_name", "min_resources", "network_topology", "sub_group_policy")
        if (value := getattr(there, name)) and (smallest.final or name != "sub_group_policy")
    }
    spec = PodGroupSpec(
        min_member=smallest.member, min_task_member=dict(smallest.task_member), queue=there.queue, **fields
    )
    return _desired(lws, group, smallest, spec, our_annotations(observed.metadata.annotations))


def _desired(
    lws: LeaderWorkerSet, group: Group, smallest: Minimum, spec: PodGroupSpec, annotations: Mapping[str, str]
) -> Desired:
    return Desired(
        group=group,
        minimum=smallest,
        spec=spec,
        labels={MANAGED_BY: MANAGER, LWS_NAME: lws.name, GROUP_INDEX: group.index, REVISION_HASH: group.revision},
        annotations=annotations,
        owner={"apiVersion": LWS_API, "kind": "LeaderWorkerSet", "name": lws.name, "uid": lws.uid, "controller": True},
        namespace=lws.namespace,
    )


def _spec(blueprint: Blueprint, smallest: Minimum, queue: str) -> PodGroupSpec:
    fields: dict[str, Any] = {
        "min_member": smallest.member,
        "min_task_member": dict(smallest.task_member),
        "queue": queue,
    }
    if blueprint.priority_class:
        fields["priority_class_name"] = blueprint.priority_class
    if blueprint.min_resources:
        fields["min_resources"] = dict(blueprint.min_resources)
    constraint = blueprint.constraint
    if constraint.topology and not (constraint.workers_only and blueprint.template.workers):
        fields["network_topology"] = constraint.topology
    if blueprint.sub_groups and smallest.final:
        fields["sub_group_policy"] = blueprint.sub_groups
    return PodGroupSpec(**fields)


def _is_whole(group: Group, blueprint: Blueprint) -> bool:
    bound = sum(pod.bound for pod in group.members.values())
    return bound >= blueprint.template.size
