"""Raw objects as LWS makes them, just enough of each."""

from typing import Any

from lws_volcano.api import names

Json = dict[str, Any]

HASH = "5d5c8f7b9d"


def lws(name: str, replicas: int = 1, size: int = 2, *, gang: bool = True, **spec: Any) -> Json:
    """A LeaderWorkerSet for Volcano, opted in."""
    template = {
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
        }
    }
    return {
        "apiVersion": names.LWS_API,
        "kind": "LeaderWorkerSet",
        "metadata": {
            "namespace": "default",
            "name": name,
            "uid": f"uid-of-{name}",
            "generation": 1,
            "annotations": {names.GANG: "true"} if gang else {},
        },
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": template},
            **spec,
        },
    }


def revision(name: str, size: int = 2) -> Json:
    """The ControllerRevision of its template."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "namespace": "default",
            "name": f"{name}-{HASH}-1",
            "labels": {names.LWS_NAME: name, names.REVISION_HASH: HASH},
            "ownerReferences": [owner("LeaderWorkerSet", name)],
        },
        "data": {"spec": {"leaderWorkerTemplate": lws(name, size=size)["spec"]["leaderWorkerTemplate"]}},
        "revision": 1,
    }


def owner(kind: str, name: str) -> Json:
    """A controller reference."""
    return {"apiVersion": names.LWS_API, "kind": kind, "name": name, "uid": f"uid-of-{name}", "controller": True}


def pod(set_name: str, group: int = 0, worker: int = 0, *, node: str = "") -> Json:
    """A pod of a group, marked by the webhook."""
    name = f"{set_name}-{group}-{worker}" if worker else f"{set_name}-{group}"
    spec: Json = {
        "schedulerName": "volcano",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": "default",
            "name": name,
            "labels": {
                names.LWS_NAME: set_name,
                names.GROUP_INDEX: str(group),
                names.WORKER_INDEX: str(worker),
                names.REVISION_HASH: HASH,
            },
            "annotations": {
                names.GROUP_NAME: pod_group_name(set_name, group),
                names.TASK_SPEC: names.WORKER if worker else names.LEADER,
            },
        },
        "spec": spec | ({"nodeName": node} if node else {}),
        "status": {"phase": "Running" if node else "Pending"},
    }


def pod_group_name(set_name: str, group: int = 0) -> str:
    """Name of a group's PodGroup."""
    return f"{set_name}-{group}-{HASH}"
