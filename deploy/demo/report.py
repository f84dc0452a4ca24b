"""What the API server says became of the groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from deploy.local.api import Api
from deploy.local.resources import HYPER_NODES, LEADER_WORKER_SETS, POD_GROUPS, PODS
from lws_volcano.api.names import GANG_SCHEDULED, GROUP_NAME, TASK_SPEC, WORKER_INDEX
from lws_volcano.cli.table import table

__all__ = ["Report", "read_back"]

POD_COLUMNS: Final = ("POD", "PODGROUP", "TASK", "RANK", "RACK", "NODE", "PHASE")
GROUP_COLUMNS: Final = ("PODGROUP", "MIN", "TASKS", "RESOURCES", "PHASE")
UNPLACED: Final = "-"


@dataclass(frozen=True)
class Report:
    """PodGroups, pods and conditions of one namespace, as they are at one moment."""

    sets: Sequence[dict[str, Any]]
    groups: Sequence[dict[str, Any]]
    pods: Sequence[dict[str, Any]]
    racks: Mapping[str, str]
    """Node to rack."""

    @property
    def created(self) -> tuple[str, ...]:
        """Groups (by leader pod name) that have all their pods."""
        return tuple(name for name, pods in self._by_group().items() if len(pods) == _size(pods[0]))

    @property
    def running(self) -> tuple[str, ...]:
        """Groups of which every pod runs."""
        whole = self._by_group()
        return tuple(name for name in self.created if all(p["status"]["phase"] == "Running" for p in whole[name]))

    @property
    def in_one_rack(self) -> tuple[str, ...]:
        """Groups that run, all their pods in one rack."""
        whole = self._by_group()
        return tuple(name for name in self.running if len({self._rack(pod) for pod in whole[name]}) == 1)

    @property
    def placed(self) -> int:
        """Groups that the conditions of the LeaderWorkerSets call placed, where all their groups are."""
        conditions = [_gang(lws) for lws in self.sets]
        whole = all(one is not None and one["status"] == "True" for one in conditions)
        return len(self.running) if whole else 0

    @property
    def held_back(self) -> tuple[str, ...]:
        """Groups of which no pod has a node."""
        return tuple(n for n, pods in self._by_group().items() if not any(p["spec"].get("nodeName") for p in pods))

    def __str__(self) -> str:
        groups = table(GROUP_COLUMNS, [_group_row(group) for group in self.groups])
        pods = table(POD_COLUMNS, [_pod_row(pod, self.racks) for pod in self.pods])
        return "\n\n".join([groups, pods, "\n".join(_condition(one) for one in self.sets)])

    def _rack(self, pod: dict[str, Any]) -> str:
        node = str(pod["spec"]["nodeName"])
        return self.racks.get(node, node)

    def _by_group(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for pod in self.pods:
            leader = pod["metadata"]["annotations"].get("leaderworkerset.sigs.k8s.io/leader-name")
            found.setdefault(leader or pod["metadata"]["name"], []).append(pod)
        return found


async def read_back(api: Api, namespace: str) -> Report:
    """Read a namespace; pods that are being deleted are left out."""
    pods = [pod for pod in await api.list(PODS, namespace) if "deletionTimestamp" not in pod["metadata"]]
    return Report(
        sets=await api.list(LEADER_WORKER_SETS, namespace),
        groups=await api.list(POD_GROUPS, namespace),
        pods=pods,
        racks=_racks(await api.list(HYPER_NODES)),
    )


def _racks(hyper_nodes: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Node to the lowest HyperNode that lists it."""
    return {
        member["selector"]["exactMatch"]["name"]: str(one["metadata"]["name"])
        for one in hyper_nodes
        for member in one["spec"]["members"]
        if member["type"] == "Node"
    }


def _size(pod: dict[str, Any]) -> int:
    return int(_annotation(pod, "leaderworkerset.sigs.k8s.io/size") or 0)


def _annotation(pod: dict[str, Any], key: str) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(key, ""))


def _group_row(group: dict[str, Any]) -> tuple[str, ...]:
    spec = group["spec"]
    return (
        group["metadata"]["name"],
        str(spec["minMember"]),
        _pairs(spec.get("minTaskMember")),
        _pairs(spec.get("minResources")),
        group.get("status", {}).get("phase", ""),
    )


def _pod_row(pod: dict[str, Any], racks: Mapping[str, str]) -> tuple[str, ...]:
    return (
        pod["metadata"]["name"],
        _annotation(pod, GROUP_NAME),
        _annotation(pod, TASK_SPEC),
        pod["metadata"]["labels"].get(WORKER_INDEX, ""),
        racks.get(pod["spec"].get("nodeName", ""), UNPLACED),
        pod["spec"].get("nodeName", UNPLACED),
        pod["status"]["phase"],
    )


def _gang(lws: dict[str, Any]) -> dict[str, Any] | None:
    conditions = lws.get("status", {}).get("conditions", ())
    return next((condition for condition in conditions if condition["type"] == GANG_SCHEDULED), None)


def _condition(lws: dict[str, Any]) -> str:
    name, found = lws["metadata"]["name"], _gang(lws)
    if found is None:
        return f"{name}: no condition {GANG_SCHEDULED}"
    return f"{name}: {GANG_SCHEDULED}={found['status']} {found['reason']}: {found['message']}"


def _pairs(values: dict[str, Any] | None) -> str:
    return " ".join(f"{key}={value}" for key, value in sorted((values or {}).items()))
