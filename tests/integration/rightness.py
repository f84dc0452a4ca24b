"""What the world must look like once it has settled, worked out from pods alone and independently of the product.

A PodGroup is right when its numbers are those of its own revision: counted and summed over the very pods that stand
behind it, with the sizes that LeaderWorkerSet wrote on them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from deploy.local.api import Object
from lws_volcano.api.names import (
    GROUP_INDEX,
    GROUP_NAME,
    LWS_NAME,
    MANAGED_BY,
    MANAGER,
    MINIMUM_GATE,
    REVISION_HASH,
    SIZE,
    TASK_SPEC,
)
from tests.integration.api import LEADER_WORKER_SETS
from tests.integration.world import World

__all__ = ["amounts", "group_of", "settled", "wrongs"]

GANG = "lws-volcano.io/gang"


def group_of(pod: Object) -> str:
    """Name of the PodGroup that a pod of a LeaderWorkerSet belongs to."""
    labels = pod["metadata"]["labels"]
    return f"{labels[LWS_NAME]}-{labels[GROUP_INDEX]}-{labels[REVISION_HASH]}"


def amounts(resources: Mapping[str, Any]) -> dict[str, Decimal]:
    """Quantities as numbers."""
    return {name: parse_quantity(str(value)) for name, value in resources.items()}


async def wrongs(world: World) -> list[str]:
    """Everything that is not as it must be when nothing happens any more; empty when all is right."""
    sets = {lws["metadata"]["name"]: lws for lws in await world.api.list(LEADER_WORKER_SETS, world.namespace)}
    pods = [pod for pod in await world.pods() if pod["metadata"].get("labels", {}).get(LWS_NAME)]
    groups = {name: one for name, one in (await world.pod_groups()).items() if _is_ours(one)}
    found: list[str] = []
    for name, lws in sets.items():
        found += _complete(lws, [pod for pod in pods if pod["metadata"]["labels"][LWS_NAME] == name])
    by_group: dict[str, list[Object]] = {}
    for pod in pods:
        by_group.setdefault(group_of(pod), []).append(pod)
        found += _gate(pod)
    standing = {name for name, members in by_group.items() if any(_names(pod, name) for pod in members)}
    found += [f"PodGroup {name} has no pods" for name in groups.keys() - standing]
    found += [f"pods of {name} have no PodGroup" for name in standing - groups.keys()]
    for name in standing & groups.keys():
        lws = sets[by_group[name][0]["metadata"]["labels"][LWS_NAME]]
        found += [f"{name}: {what}" for what in _numbers(lws, groups[name], by_group[name])]
    return found


async def settled(world: World, timeout: float = 60) -> None:  # noqa: ASYNC109
    """Wait until everything is exactly right."""

    async def look() -> bool:
        found = await wrongs(world)
        assert not found, found
        return True

    await world.eventually(look, timeout)


def _is_ours(group: Object) -> bool:
    return (group["metadata"].get("labels") or {}).get(MANAGED_BY) == MANAGER


def _names(pod: Object, group: str) -> bool:
    return bool(pod["metadata"]["annotations"].get(GROUP_NAME) == group)


def _complete(lws: Object, pods: Sequence[Object]) -> list[str]:
    name = lws["metadata"]["name"]
    wanted = lws["spec"]["replicas"] * lws["spec"]["leaderWorkerTemplate"]["size"]
    living = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
    running = [pod for pod in living if pod["status"].get("phase") == "Running"]
    return (
        []
        if len(running) == len(living) == len(pods) == wanted
        else [f"{name}: {len(running)} of {len(pods)} run, {wanted} wanted"]
    )


def _gate(pod: Object) -> list[str]:
    gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    return [f"{pod['metadata']['name']} is still gated"] if MINIMUM_GATE in gates else []


def _numbers(lws: Object, group: Object, pods: Sequence[Object]) -> list[str]:
    """What differs between a PodGroup and the pods behind it; members outside of it are not counted."""
    spec, name = group["spec"], group["metadata"]["name"]
    inside = [pod for pod in pods if _names(pod, name)]
    tasks = Counter(pod["metadata"]["annotations"][TASK_SPEC] for pod in inside)
    sizes = {int(pod["metadata"]["annotations"][SIZE]) for pod in pods}
    wanted: dict[str, object] = {
        "minMember": len(inside),
        "minTaskMember": dict(tasks),
        "size on the pods": {len(pods)},
        "minResources": _sum(pods),
        "owner": [(lws["metadata"]["uid"], True)],
    }
    owners = group["metadata"].get("ownerReferences") or ()
    found: dict[str, object] = {
        "minMember": spec.get("minMember"),
        "minTaskMember": spec.get("minTaskMember"),
        "size on the pods": sizes,
        "minResources": amounts(spec.get("minResources") or {}),
        "owner": [(one["uid"], one.get("controller", False)) for one in owners],
    }
    return [f"{what} is {found[what]}, not {wanted[what]}" for what in wanted if found[what] != wanted[what]]


def _sum(pods: Sequence[Object]) -> dict[str, Decimal]:
    """Requests of pods without init containers, limits where there is no request."""
    total: Counter[str] = Counter()
    for pod in pods:
        for container in pod["spec"]["containers"]:
            resources = container.get("resources") or {}
            asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            total.update(amounts(asked))  # type: ignore[arg-type]
    return dict(total)  # type: ignore[arg-type]
