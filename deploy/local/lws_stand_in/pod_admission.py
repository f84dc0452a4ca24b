"""What the pod webhook of LeaderWorkerSet adds to its pods: group, worker and sub-group labels, affinity, variables."""

import hashlib
from copy import deepcopy

from deploy.local.admission import Denied
from deploy.local.lws_stand_in.names import (
    EXCLUSIVE,
    GROUP_INDEX,
    GROUP_KEY,
    LEADER_EXCLUDED,
    LEADER_NAME,
    NAME,
    SIZE,
    SUBDOMAIN_POLICY,
    SUBGROUP_EXCLUSIVE,
    SUBGROUP_INDEX,
    SUBGROUP_KEY,
    SUBGROUP_SIZE,
    SUBGROUP_TYPE,
    UNIQUE_SUBDOMAIN,
    WORKER_INDEX,
    Json,
    annotations,
    is_leader,
    labels,
)

__all__ = ["admit_pod"]


def admit_pod(request: Json) -> Json | None:
    """The pod as LeaderWorkerSet would admit it; None for pods of others."""
    pod: Json = deepcopy(request["object"])
    if NAME not in labels(pod):
        return None
    if SIZE not in annotations(pod):
        raise Denied(f"size annotation is unexpectedly missing for pod {pod['metadata'].get('name')}")
    if is_leader(pod):
        _leader(pod, request["namespace"])
    else:
        _worker(pod)
    _variables(pod, request["namespace"])
    return pod


def _leader(pod: Json, namespace: str) -> None:
    name, noted = pod["metadata"]["name"], annotations(pod)
    own = labels(pod)
    if GROUP_INDEX not in own:
        own[GROUP_INDEX] = _ordinal(name)
    if noted.get(SUBDOMAIN_POLICY) == UNIQUE_SUBDOMAIN:
        pod["spec"]["subdomain"] = name
    own.setdefault(GROUP_KEY, _key(namespace, name))
    if noted.get(EXCLUSIVE):
        _exclusive(pod, noted[EXCLUSIVE], GROUP_KEY)
    if noted.get(SUBGROUP_SIZE) and noted.get(SUBGROUP_TYPE) != LEADER_EXCLUDED:
        _sub_group(pod, "0", name)


def _worker(pod: Json) -> None:
    noted = annotations(pod)
    index = _ordinal(pod["metadata"]["name"])
    labels(pod)[WORKER_INDEX] = index
    if noted.get(SUBGROUP_SIZE):
        place = _sub_group_index(int(noted[SIZE]), int(noted[SUBGROUP_SIZE]), int(index))
        _sub_group(pod, str(place), noted.get(LEADER_NAME, ""))


def _sub_group(pod: Json, index: str, leader: str) -> None:
    own, noted = labels(pod), annotations(pod)
    if own.get(SUBGROUP_INDEX):
        return
    own[SUBGROUP_INDEX] = index
    own[SUBGROUP_KEY] = _key(leader, index)
    if noted.get(SUBGROUP_EXCLUSIVE):
        _exclusive(pod, noted[SUBGROUP_EXCLUSIVE], SUBGROUP_KEY)


def _sub_group_index(size: int, sub_group: int, worker: int) -> int:
    """Sub-group of a worker; where only size - 1 divides evenly, the leader is one more member of the first."""
    if (size - 1) % sub_group == 0 and size % sub_group != 0:
        return (worker - 1) // sub_group
    return worker // sub_group


def _exclusive(pod: Json, topology: str, key: str) -> None:
    """Together with pods of the same key in one domain, and apart from those of any other."""
    affinity = pod["spec"].setdefault("affinity", {})
    with_, apart = affinity.setdefault("podAffinity", {}), affinity.setdefault("podAntiAffinity", {})
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    if any(term["topologyKey"] == topology for term in with_.get(required, ())):
        return
    mine = labels(pod)[key]
    same = {"key": key, "operator": "In", "values": [mine]}
    other = [{"key": key, "operator": "Exists"}, {"key": key, "operator": "NotIn", "values": [mine]}]
    with_.setdefault(required, []).append({"labelSelector": {"matchExpressions": [same]}, "topologyKey": topology})
    apart.setdefault(required, []).append({"labelSelector": {"matchExpressions": other}, "topologyKey": topology})


def _variables(pod: Json, namespace: str) -> None:
    own, spec = labels(pod), pod["spec"]
    address = f"{own[NAME]}-{own[GROUP_INDEX]}.{spec.get('subdomain', '')}.{namespace}"
    values = {
        "LWS_LEADER_ADDRESS": address,
        "LWS_GROUP_SIZE": annotations(pod)[SIZE],
        "LWS_WORKER_INDEX": own[WORKER_INDEX],
    }
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        kept = [one for one in container.get("env") or () if one["name"] not in values]
        container["env"] = [{"name": name, "value": value} for name, value in values.items()] + kept


def _ordinal(name: str) -> str:
    number = name.rpartition("-")[2]
    if not number.isdigit():
        raise Denied(f"parsing pod ordinal for pod {name}")
    return number


def _key(*parts: str) -> str:
    return hashlib.sha1("/".join(parts).encode(), usedforsecurity=False).hexdigest()
