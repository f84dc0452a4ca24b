"""Labels, annotations and words of the LeaderWorkerSet API."""

from typing import Any, Final

PREFIX: Final = "leaderworkerset.sigs.k8s.io/"
NAME: Final = PREFIX + "name"
GROUP_INDEX: Final = PREFIX + "group-index"
GROUP_KEY: Final = PREFIX + "group-key"
WORKER_INDEX: Final = PREFIX + "worker-index"
REVISION: Final = PREFIX + "template-revision-hash"
SUBGROUP_INDEX: Final = PREFIX + "subgroup-index"
SUBGROUP_KEY: Final = PREFIX + "subgroup-key"
SIZE: Final = PREFIX + "size"
REPLICAS: Final = PREFIX + "replicas"
LEADER_NAME: Final = PREFIX + "leader-name"
EXCLUSIVE: Final = PREFIX + "exclusive-topology"
SUBGROUP_EXCLUSIVE: Final = PREFIX + "subgroup-exclusive-topology"
SUBGROUP_SIZE: Final = PREFIX + "subgroup-size"
SUBGROUP_TYPE: Final = PREFIX + "subgroup-policy-type"
SUBDOMAIN_POLICY: Final = PREFIX + "subdomainPolicy"
AFTER_START: Final = PREFIX + "experimental-recreate-group-after-start"

LEADER_READY: Final = "LeaderReady"
LEADER_EXCLUDED: Final = "LeaderExcluded"
UNIQUE_SUBDOMAIN: Final = "UniquePerReplica"

Json = dict[str, Any]


def labels(one: Json) -> dict[str, str]:
    """Labels of an object."""
    return one["metadata"].get("labels") or {}


def annotations(one: Json) -> dict[str, str]:
    """Annotations of an object."""
    return one["metadata"].get("annotations") or {}


def controller_of(one: Json) -> Json | None:
    """The managing owner reference."""
    owners: list[Json] = one["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def owned_by(owner: Json) -> list[Json]:
    """Owner references that make `owner` the managing one."""
    return [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def group_size(lws: Json) -> int:
    """Pods of a group."""
    return int(lws["spec"]["leaderWorkerTemplate"].get("size", 1))


def ready(pod: Json) -> bool:
    """Its Ready condition is True."""
    conditions = pod.get("status", {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def running_and_ready(pod: Json) -> bool:
    """Phase Running and Ready."""
    return pod.get("status", {}).get("phase") == "Running" and ready(pod)


def is_leader(pod: Json) -> bool:
    """Worker index 0."""
    return labels(pod).get(WORKER_INDEX) == "0"
