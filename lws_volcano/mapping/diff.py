"""Observed against desired PodGroup.

Rule: only our fields count, and an equal PodGroup is not written at all. Resource values are compared as numbers (the
API server keeps `0.2` as somebody wrote it), names and counts exactly. In maps that mean something as a whole
(minTaskMember, minResources) a foreign key changes the meaning of ours, and server-side apply would leave it; the same
goes for whole fields that we leave out on purpose. Those go into `prune`, a merge patch of nulls. What we applied
before and leave out now goes with the apply itself; only what is left after it (`remaining`) needs the patch.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lws_volcano.api.errors import QuantityError
from lws_volcano.api.quantity import parse_resources
from lws_volcano.api.volcano import NetworkTopology, PodGroup, PodGroupSpec
from lws_volcano.mapping.annotations import stale_keys
from lws_volcano.mapping.changes import ApplyPodGroup
from lws_volcano.mapping.pod_groups import Desired

__all__ = ["changed_parts", "foreign_parts", "remaining", "update"]


def update(desired: Desired, observed: PodGroup | None) -> ApplyPodGroup | None:
    """The write that makes the PodGroup right, None when it is right."""
    if observed is None:
        return _apply(desired, "the group has a pod and no PodGroup yet")
    parts = changed_parts(desired, observed)
    if not parts:
        return None
    return replace(
        _apply(desired, f"{', '.join(parts)} differ"),
        uid=observed.uid,
        prune=foreign_parts(desired, observed),
        stands=_stands(desired, observed),
    )


def changed_parts(desired: Desired, observed: PodGroup) -> tuple[str, ...]:
    """Names of our fields that are not as they should be."""
    metadata, want, have = observed.metadata, desired.spec, observed.spec
    right = {
        "labels": _holds(metadata.labels, desired.labels),
        "annotations": _holds(metadata.annotations, desired.annotations)
        and not stale_keys(metadata.annotations, desired.annotations),
        "ownerReferences": metadata.controller_uid == desired.owner["uid"],
        "minMember": have.min_member == want.min_member,
        "minTaskMember": dict(have.min_task_member) == dict(want.min_task_member),
        "queue": have.queue == want.queue,
        "priorityClassName": have.priority_class_name == want.priority_class_name,
        "minResources": _same_resources(have.min_resources, want.min_resources),
        "networkTopology": have.network_topology == want.network_topology,
        "subGroupPolicy": have.sub_group_policy == want.sub_group_policy,
    }
    return tuple(name for name, equal in right.items() if not equal)


def foreign_parts(desired: Desired, observed: PodGroup) -> Mapping[str, Any] | None:
    """Merge patch that takes out what must not stand beside our fields; None when there is nothing."""
    want, have = desired.spec, observed.spec
    spec: dict[str, Any] = {}
    _prune_map(spec, "minTaskMember", have.min_task_member, want.min_task_member)
    _prune_map(spec, "minResources", have.min_resources, want.min_resources)
    if have.priority_class_name and not want.priority_class_name:
        spec["priorityClassName"] = None
    if have.sub_group_policy and not want.sub_group_policy:
        spec["subGroupPolicy"] = None
    if have.network_topology is not None:
        _prune_topology(spec, have.network_topology, want)
    stale = stale_keys(observed.metadata.annotations, desired.annotations)
    patch: dict[str, Any] = {"spec": spec} if spec else {}
    if stale:
        patch["metadata"] = {"annotations": dict.fromkeys(stale)}
    return patch or None


def remaining(prune: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a merge patch of nulls that still has something to take out of a (raw) object."""
    left: dict[str, Any] = {}
    for name, value in prune.items():
        there = found.get(name)
        if isinstance(value, Mapping):
            inner = remaining(value, there) if isinstance(there, Mapping) else {}
            if inner:
                left[name] = inner
        elif there is not None:
            left[name] = None
    return left


def _apply(desired: Desired, why: str) -> ApplyPodGroup:
    return ApplyPodGroup(namespace=desired.namespace, name=desired.name, manifest=desired.manifest(), why=why)


def _stands(desired: Desired, observed: PodGroup) -> bool:
    """Whether all that we want is there, so that an apply would change nothing."""
    metadata, want, have = observed.metadata, desired.spec, observed.spec
    return (
        _holds(metadata.labels, desired.labels)
        and _holds(metadata.annotations, desired.annotations)
        and metadata.controller_uid == desired.owner["uid"]
        and (have.min_member, have.queue) == (want.min_member, want.queue)
        and _holds(have.min_task_member, want.min_task_member)
        and _same_resources({key: have.min_resources.get(key, "0") for key in want.min_resources}, want.min_resources)
        and want.priority_class_name in {"", have.priority_class_name}
        and want.network_topology in {None, have.network_topology}
        and want.sub_group_policy in {(), have.sub_group_policy}
    )


def _holds(have: Mapping[str, object], want: Mapping[str, object]) -> bool:
    return all(have.get(key) == value for key, value in want.items())


def _same_resources(have: Mapping[str, str | int | float], want: Mapping[str, str | int | float]) -> bool:
    try:
        return parse_resources(have) == parse_resources(want)
    except QuantityError:
        return False


def _prune_map(spec: dict[str, Any], field: str, have: Mapping[str, Any], want: Mapping[str, Any]) -> None:
    foreign = sorted(set(have) - set(want))
    if foreign:
        spec[field] = dict.fromkeys(foreign) if want else None


def _prune_topology(spec: dict[str, Any], have: NetworkTopology, want: PodGroupSpec) -> None:
    wanted = want.network_topology
    if wanted is None:
        spec["networkTopology"] = None
        return
    fields = {
        "highestTierName": (have.highest_tier_name, wanted.highest_tier_name),
        "highestTierAllowed": (have.highest_tier_allowed, wanted.highest_tier_allowed),
    }
    foreign = [name for name, (there, asked) in fields.items() if there is not None and asked is None]
    if foreign:
        spec["networkTopology"] = dict.fromkeys(foreign)
