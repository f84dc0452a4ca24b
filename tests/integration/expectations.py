"""What tests wait for and look at, in the words of the policies."""

from typing import Any

from deploy.local.api import Object
from lws_volcano.api.names import GANG_SCHEDULED, LWS_NAME, MANAGED_BY, MANAGER, REVISION_HASH
from tests.integration.api import EVENTS, LEADER_WORKER_SETS, REVISIONS
from tests.integration.builders import pod_template
from tests.integration.recorder import Event
from tests.integration.world import World

__all__ = [
    "GPU",
    "condition_is",
    "events_of",
    "groups_are",
    "history",
    "keys",
    "made_anew",
    "minimums",
    "our_groups",
    "revision_of",
    "small_pod",
    "uids",
    "updated",
]

GPU = "nvidia.com/gpu"


def small_pod(gpus: int = 1, **more: Any) -> dict[str, Any]:
    """A template of one GPU: eight of its pods share a node."""
    return pod_template(limits={GPU: str(gpus)}, **more)


async def our_groups(world: World, lws: str = "") -> dict[str, Object]:
    """PodGroups that lws-volcano manages here, by name."""
    found = await world.pod_groups()
    labels = {name: group["metadata"].get("labels") or {} for name, group in found.items()}
    return {
        name: group
        for name, group in found.items()
        if labels[name].get(MANAGED_BY) == MANAGER and lws in {"", labels[name].get(LWS_NAME)}
    }


async def groups_are(world: World, lws: str, indices: str, timeout: float = 30) -> list[Object]:  # noqa: ASYNC109
    """Wait until the PodGroups of an LWS are exactly those of these group indices, each once."""

    async def look() -> list[Object]:
        found = await our_groups(world, lws)
        seen = sorted(name.split("-")[-2] for name in found)
        assert seen == sorted(indices), sorted(found)
        return list(found.values()) or [{}]

    return await world.eventually(look, timeout)


async def condition_is(world: World, lws: str, reason: str, timeout: float = 30) -> Object:  # noqa: ASYNC109
    """Wait until our condition of an LWS has this reason; gives it."""

    async def look() -> Object:
        found = await world.api.get(LEADER_WORKER_SETS, lws, world.namespace)
        ours = [one for one in found.get("status", {}).get("conditions", ()) if one["type"] == GANG_SCHEDULED]
        assert [one["reason"] for one in ours] == [reason], ours
        return ours[0]  # type: ignore[no-any-return]

    return await world.eventually(look, timeout)


async def made_anew(world: World, lws: str, before: list[Object], timeout: float = 60) -> list[Object]:  # noqa: ASYNC109
    """Wait until as many pods of an LWS run, and none of those that were there before."""

    async def look() -> list[Object]:
        now = await world.running(lws, len(before))
        return [] if uids(now) & uids(before) else now

    return await world.eventually(look, timeout)


async def updated(world: World, lws: str, pods: int, timeout: float = 60) -> list[Object]:  # noqa: ASYNC109
    """Wait until a rollout is through: all pods of the newest revision run."""

    async def look() -> list[Object]:
        lws_now = await world.api.get(LEADER_WORKER_SETS, lws, world.namespace)
        assert lws_now.get("status", {}).get("observedGeneration") == lws_now["metadata"]["generation"]
        newest = await revision_of(world, lws)
        found = await world.pods(lws)
        seen = [(pod["metadata"]["labels"][REVISION_HASH], pod["status"].get("phase")) for pod in found]
        assert seen == [(newest, "Running")] * pods, (newest, seen)
        return found or [{}]

    return await world.eventually(look, timeout)


async def revision_of(world: World, lws: str) -> str:
    """Hash of the newest revision of an LWS, empty when there is none yet."""
    found = await world.api.list(REVISIONS, world.namespace, labelSelector=f"{LWS_NAME}={lws}")
    own = [one for one in found if one["metadata"]["ownerReferences"][0]["kind"] == "LeaderWorkerSet"]
    newest = max(own, key=lambda one: int(one["revision"]), default=None)
    return str(newest["metadata"]["labels"][REVISION_HASH]) if newest else ""


async def events_of(world: World, lws: str) -> dict[str, str]:
    """Our Events on an LWS: reason to message."""
    return {
        one["reason"]: one["message"]
        for one in await world.api.list(EVENTS, world.namespace)
        if one["involvedObject"]["name"] == lws and one["involvedObject"]["kind"] == "LeaderWorkerSet"
        and "lws-volcano" in (one.get("source", {}).get("component") or one.get("reportingComponent") or "")
    }  # fmt: skip


def history(events: list[Event], group: str) -> list[Object]:
    """Every state of a PodGroup that is there, from its creation on."""
    return [one.object for one in events if one.kind == "PodGroup" and one.name == group and one.type != "DELETED"]


def minimums(events: list[Event], group: str) -> list[tuple[int, dict[str, int]]]:
    """What a PodGroup asked for, one after the other, repetitions left out."""
    steps: list[tuple[int, dict[str, int]]] = []
    for state in history(events, group):
        step = state["spec"]["minMember"], state["spec"]["minTaskMember"]
        if not steps or steps[-1] != step:
            steps.append(step)
    return steps


def keys(pods: list[Object]) -> dict[str, str]:
    """Name to UID."""
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


def uids(pods: list[Object]) -> set[str]:
    """UIDs."""
    return {pod["metadata"]["uid"] for pod in pods}
