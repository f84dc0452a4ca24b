"""LeaderWorkerSets as tests need them."""

from collections.abc import Mapping
from typing import Any

from deploy.local.api import Object

__all__ = ["leader_worker_set", "pod_template"]


def pod_template(
    *,
    limits: Mapping[str, str] | None = None,
    requests: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    scheduler: str = "volcano",
    **spec: Any,
) -> dict[str, Any]:
    """A pod template of one container; `spec` goes into the pod spec as it is."""
    resources = {name: dict(value) for name, value in (("limits", limits), ("requests", requests)) if value}
    container = {"name": "main", "image": "example.com/serve:1", "resources": resources}
    return {
        "metadata": {"annotations": dict(annotations or {}), "labels": dict(labels or {})},
        "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 1, "containers": [container], **spec},
    }


def leader_worker_set(
    name: str = "demo",
    *,
    replicas: int = 1,
    size: int = 2,
    worker: dict[str, Any] | None = None,
    leader: dict[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    gang: bool = True,
    **spec: Any,
) -> Object:
    """A LeaderWorkerSet, opted in unless told otherwise; eight GPUs a pod by default.

    Members of the group's template (`restartPolicy`, `subGroupPolicy`) go where they belong, the rest of `spec` is
    taken as it is.
    """
    template: dict[str, Any] = {
        "size": size,
        "workerTemplate": worker or pod_template(limits={"nvidia.com/gpu": "8"}),
    }
    if leader is not None:
        template["leaderTemplate"] = leader
    for member in ("restartPolicy", "subGroupPolicy"):
        if member in spec:
            template[member] = spec.pop(member)
    opted = {"lws-volcano.io/gang": "true"} if gang else {}
    return {
        "metadata": {"name": name, "annotations": {**opted, **(annotations or {})}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": template, **spec},
    }
