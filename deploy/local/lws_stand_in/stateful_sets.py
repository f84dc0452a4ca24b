"""The StatefulSets of a LeaderWorkerSet: one of leaders, one of workers a group."""

from copy import deepcopy

from deploy.local.lws_stand_in.names import (
    EXCLUSIVE,
    GROUP_INDEX,
    GROUP_KEY,
    LEADER_NAME,
    NAME,
    REPLICAS,
    REVISION,
    SIZE,
    SUBDOMAIN_POLICY,
    SUBGROUP_EXCLUSIVE,
    SUBGROUP_SIZE,
    SUBGROUP_TYPE,
    UNIQUE_SUBDOMAIN,
    WORKER_INDEX,
    Json,
    annotations,
    group_size,
    labels,
    owned_by,
)
from deploy.local.lws_stand_in.rollout import Budget

__all__ = ["leader_set", "worker_set"]


def leader_set(lws: Json, *, partition: int, replicas: int, revision: str) -> Json:
    """Desired leader StatefulSet, to be applied."""
    meta, spec = lws["metadata"], lws["spec"]
    name = meta["name"]
    group = spec["leaderWorkerTemplate"]
    template = deepcopy(group.get("leaderTemplate") or group["workerTemplate"])
    own = {WORKER_INDEX: "0", NAME: name, REVISION: revision}
    noted = _group_annotations(lws)
    if _unique_subdomain(lws):
        noted[SUBDOMAIN_POLICY] = UNIQUE_SUBDOMAIN
    _mark(template, own, noted)
    budget = Budget.of(lws)
    return {
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": {**labels(lws), NAME: name, REVISION: revision},
            "annotations": {**annotations(lws), REPLICAS: str(spec["replicas"])},
            "ownerReferences": owned_by(lws),
        },
        "spec": {
            "serviceName": name,
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {NAME: name, WORKER_INDEX: "0"}},
            "template": template,
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"partition": partition, "maxUnavailable": max(budget.unavailable + budget.surge, 1)},
            },
            **_claims(group),
        },
    }


def worker_set(lws: Json, leader: Json, selector: dict[str, str] | None = None) -> Json:
    """StatefulSet of one group's workers, to be created.

    Parameters
    ----------
    lws : dict
        The set, with the templates of the leader's revision.
    leader : dict
        The group's leader pod, which owns it.
    selector : dict, optional
        Node selector that keeps the workers in the leader's exclusive domain.
    """
    meta = leader["metadata"]
    group = lws["spec"]["leaderWorkerTemplate"]
    own = {key: labels(leader)[key] for key in (GROUP_INDEX, GROUP_KEY)} | {NAME: lws["metadata"]["name"]}
    revision = {REVISION: labels(leader)[REVISION]}
    template = deepcopy(group["workerTemplate"])
    _mark(template, own | revision, {**_group_annotations(lws), LEADER_NAME: meta["name"]})
    if selector:
        template["spec"]["nodeSelector"] = {**(template["spec"].get("nodeSelector") or {}), **selector}
    return {
        "metadata": {
            "name": meta["name"],
            "namespace": meta["namespace"],
            "labels": {**labels(lws), **own, **revision},
            "annotations": dict(annotations(lws)),
            "ownerReferences": owned_by({"apiVersion": "v1", "kind": "Pod", "metadata": meta}),
        },
        "spec": {
            "serviceName": meta["name"] if _unique_subdomain(lws) else lws["metadata"]["name"],
            "replicas": group_size(lws) - 1,
            "podManagementPolicy": "Parallel",
            "ordinals": {"start": 1},
            "selector": {"matchLabels": own},
            "template": template,
            **_claims(group),
        },
    }


def _mark(template: Json, own_labels: dict[str, str], own_annotations: dict[str, str]) -> None:
    meta = {key: value for key, value in (template.get("metadata") or {}).items() if value is not None}
    meta["labels"] = {**(meta.get("labels") or {}), **own_labels}
    meta["annotations"] = {**(meta.get("annotations") or {}), **own_annotations}
    template["metadata"] = meta


def _group_annotations(lws: Json) -> dict[str, str]:
    asked = annotations(lws)
    noted = {SIZE: str(group_size(lws))}
    if asked.get(EXCLUSIVE):
        noted[EXCLUSIVE] = asked[EXCLUSIVE]
    policy = lws["spec"]["leaderWorkerTemplate"].get("subGroupPolicy")
    if policy:
        noted[SUBGROUP_TYPE] = policy.get("subGroupPolicyType", "LeaderWorker")
        noted[SUBGROUP_SIZE] = str(policy["subGroupSize"])
        if asked.get(SUBGROUP_EXCLUSIVE):
            noted[SUBGROUP_EXCLUSIVE] = asked[SUBGROUP_EXCLUSIVE]
    return noted


def _unique_subdomain(lws: Json) -> bool:
    return (lws["spec"].get("networkConfig") or {}).get("subdomainPolicy") == UNIQUE_SUBDOMAIN


def _claims(group: Json) -> Json:
    kept = ("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy")
    return {name: deepcopy(group[name]) for name in kept if group.get(name)}
