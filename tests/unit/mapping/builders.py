"""Builders of the objects that a mapping decision looks at; the defaults make a plain gang of four."""

import copy
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lws_volcano.api import names
from lws_volcano.api.cluster import Namespace
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.snapshot import Snapshot

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
HASH = "6797748df8"
OPTED_IN = {names.GANG: "true"}


def at(seconds: float) -> str:
    """A time before (negative) or after now, as the API server writes it."""
    return (NOW + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def pod_spec(requests: Mapping[str, Any] | None = None, scheduler: str = "volcano", **spec: Any) -> dict[str, Any]:
    """Spec with one container."""
    resources = {"requests": dict({"cpu": "1"} if requests is None else requests)}
    return {"schedulerName": scheduler, "containers": [{"name": "app", "resources": resources}], **spec}


def template(
    annotations: Mapping[str, str] | None = None, labels: Mapping[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """Pod template."""
    return {
        "metadata": {"annotations": dict(annotations or {}), "labels": dict(labels or {})},
        "spec": pod_spec(**spec),
    }


def group_template(
    size: int = 4, worker: Mapping[str, Any] | None = None, leader: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A leaderWorkerTemplate."""
    built = {"size": size, "workerTemplate": copy.deepcopy(dict(worker or template())), **more}
    return built | ({"leaderTemplate": copy.deepcopy(dict(leader))} if leader else {})


def parsed(raw: Mapping[str, Any]) -> LeaderWorkerTemplate:
    """View of a leaderWorkerTemplate."""
    return LeaderWorkerTemplate.model_validate(raw)


def lws(
    name: str = "demo",
    *,
    replicas: int = 1,
    groups: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    namespace: str = "default",
    uid: str = "",
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> LeaderWorkerSet:
    """A LeaderWorkerSet, opted in."""
    return LeaderWorkerSet.parse(
        {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": uid or f"uid-of-{namespace}-{name}",
                "annotations": OPTED_IN if annotations is None else dict(annotations),
                **(metadata or {}),
            },
            "spec": {"replicas": replicas, "leaderWorkerTemplate": dict(groups or group_template()), **spec},
        }
    )


def revision(
    owner: LeaderWorkerSet, groups: Mapping[str, Any] | None = None, hash_: str = HASH, number: int = 1
) -> ControllerRevision:
    """The ControllerRevision behind a group template."""
    return ControllerRevision.parse(
        {
            "metadata": {
                "name": f"{owner.name}-{hash_}-{number}",
                "namespace": owner.namespace,
                "labels": {names.LWS_NAME: owner.name, names.REVISION_HASH: hash_},
                "ownerReferences": [
                    {"kind": "LeaderWorkerSet", "name": owner.name, "uid": owner.uid, "controller": True}
                ],
            },
            "data": {"spec": {"leaderWorkerTemplate": {"$patch": "replace", **(groups or group_template())}}},
            "revision": number,
        }
    )


def pod(
    group: str = "0",
    rank: int = 0,
    *,
    of: str = "demo",
    hash_: str = HASH,
    namespace: str = "default",
    node: str = "",
    joined: bool = True,
    uid: str = "",
    owner: str = "",
    created: float = 0,
    ending: bool = False,
    phase: str = "",
    gates: Sequence[str] = (),
    annotations: Mapping[str, str] | None = None,
    conditions: Sequence[Mapping[str, Any]] = (),
    spec: Mapping[str, Any] | None = None,
) -> Pod:
    """A pod as the API server shows it, with what our webhook writes where it `joined`."""
    name = f"{of}-{group}-{rank}" if rank else f"{of}-{group}"
    ours = {names.GROUP_NAME: f"{of}-{group}-{hash_}", names.TASK_SPEC: "worker" if rank else "leader"}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-of-{name}-{hash_}",
        "creationTimestamp": at(created),
        "labels": {
            names.LWS_NAME: of,
            names.GROUP_INDEX: group,
            names.WORKER_INDEX: str(rank),
            names.REVISION_HASH: hash_,
        },
        "annotations": {**(ours if joined else {}), **(annotations or {})},
        "ownerReferences": [
            {
                "kind": "StatefulSet",
                "name": "sts",
                "uid": owner or f"sts-{of}-{group if rank else ''}",
                "controller": True,
            }
        ],
    }
    if ending:
        metadata["deletionTimestamp"] = at(-1)
    body = {"nodeName": node, "schedulerName": "volcano", "schedulingGates": [{"name": gate} for gate in gates]}
    status = {"phase": phase or ("Running" if node else "Pending"), "conditions": list(conditions)}
    return Pod.parse({"metadata": metadata, "spec": {**body, **(spec or {})}, "status": status})


def group(index: str = "0", size: int = 4, **each: Any) -> tuple[Pod, ...]:
    """All pods of one group."""
    return tuple(pod(index, rank, **each) for rank in range(size))


def pod_group(name: str = f"demo-0-{HASH}", *, owner: LeaderWorkerSet | None = None, **parts: Any) -> PodGroup:
    """A PodGroup; `metadata`, `spec` and `status` are taken as they are."""
    reference = {"kind": "LeaderWorkerSet", "name": owner.name, "uid": owner.uid, "controller": True} if owner else None
    metadata = {"name": name, "namespace": owner.namespace if owner else "default", "uid": f"uid-of-{name}"}
    if reference:
        metadata |= {"ownerReferences": [reference], "labels": {names.MANAGED_BY: names.MANAGER}}
    metadata |= parts.get("metadata", {})
    return PodGroup.parse({"metadata": metadata, "spec": parts.get("spec", {}), "status": parts.get("status", {})})


def queue(name: str, state: str = "Open", **capability: str) -> Queue:
    """A queue."""
    return Queue.parse({"metadata": {"name": name}, "spec": {"capability": capability}, "status": {"state": state}})


def namespace(name: str = "default", **annotations: str) -> Namespace:
    """A namespace; keys are given as in `names`."""
    return Namespace.parse({"metadata": {"name": name, "annotations": annotations}})


def snapshot(owner: LeaderWorkerSet | None = None, pods: Sequence[Pod] = (), **more: Any) -> Snapshot:
    """A snapshot with the revision of the live template, unless others are given."""
    owner = owner or lws()
    more.setdefault(
        "revisions", (revision(owner, owner.spec.leader_worker_template.model_dump(by_alias=True, exclude_unset=True)),)
    )
    more.setdefault("settings", Settings())
    more.setdefault("now", NOW)
    return Snapshot(lws=owner, pods=tuple(pods), **more)
