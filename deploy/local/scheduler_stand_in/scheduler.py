"""The effects: mirrors, a session every period, and the writes that come of it."""

import asyncio
import datetime as dt
import random
import sys
from collections.abc import Awaitable, Iterable
from typing import Any, Final

import aiohttp

from deploy.local.api import STRATEGIC, Api
from deploy.local.errors import ApiError
from deploy.local.mirror import Mirror
from deploy.local.resources import HYPER_NODES, NAMESPACES, NODES, POD_GROUPS, PODS, PRIORITY_CLASSES, QUEUES
from deploy.local.scheduler_stand_in.model import Snapshot, Task
from deploy.local.scheduler_stand_in.session import Decisions, run_session

__all__ = ["Scheduler"]

BINDERS: Final = 32
EXPECTED: Final = {"NotFound", "Conflict", "AlreadyExists"}


class Scheduler:
    """Schedules the pods of one scheduler name.

    Parameters
    ----------
    period : float
        Seconds between sessions.
    seed : int, optional
        Makes ties fall the same way every time.
    """

    def __init__(self, api: Api, *, name: str, period: float, seed: int | None = None) -> None:
        self._api = api
        self._name = name
        self._period = period
        self._chance = random.Random(seed)  # noqa: S311 - ties, not secrets
        self._bound: dict[str, str] = {}
        self._told: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._binding = asyncio.Semaphore(BINDERS)
        self.pods = Mirror(api, PODS)
        self.pod_groups = Mirror(api, POD_GROUPS)
        self.nodes = Mirror(api, NODES)
        self.queues = Mirror(api, QUEUES)
        self.hyper_nodes = Mirror(api, HYPER_NODES)
        self.priorities = Mirror(api, PRIORITY_CLASSES)
        self.namespaces = Mirror(api, NAMESPACES)
        for mirror in self.mirrors:
            mirror.listen(lambda _old, _new: self._changed.set())

    @property
    def mirrors(self) -> tuple[Mirror, ...]:
        """All that have to run."""
        return (
            self.pods, self.pod_groups, self.nodes, self.queues, self.hyper_nodes, self.priorities, self.namespaces
        )  # fmt: skip

    async def run(self) -> None:
        """A session every period in which something changed, until cancelled."""
        for mirror in self.mirrors:
            await mirror.synced.wait()
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._apply(run_session(self._snapshot(), self._chance, _now()))
            await asyncio.sleep(self._period)

    def _snapshot(self) -> Snapshot:
        return Snapshot.of(
            pod_groups=self.pod_groups.objects.values(),
            pods=[self._with_binding(pod) for pod in self.pods.objects.values()],
            nodes=self.nodes.objects.values(),
            queues=self.queues.objects.values(),
            hyper_nodes=self.hyper_nodes.objects.values(),
            priorities={name: int(one["value"]) for name, one in self.priorities.objects.items()},
            scheduler=self._name,
        )

    def _with_binding(self, pod: dict[str, Any]) -> dict[str, Any]:
        """The pod with the node that we have just given it, where the watch lags behind."""
        node = self._bound.get(pod["metadata"]["uid"])
        if node is None:
            return pod
        if pod["spec"].get("nodeName"):
            del self._bound[pod["metadata"]["uid"]]
            return pod
        return {**pod, "spec": {**pod["spec"], "nodeName": node}}

    async def _apply(self, decisions: Decisions) -> None:
        await _all(self._bind(task, node) for task, node in decisions.bindings)
        await _all(self._status(key, status) for key, status in decisions.statuses.items())
        await _all(self._tell(task, message) for task, message in decisions.unschedulable)

    async def _bind(self, task: Task, node: str) -> None:
        meta = task.raw["metadata"]
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        async with self._binding:
            await self._api.request("POST", PODS.path(meta["namespace"], meta["name"], "binding"), body)
        self._bound[task.uid] = node
        self._told.pop(task.uid, None)

    async def _status(self, key: str, status: dict[str, Any]) -> None:
        """Only the status is patched: what others changed in the spec meanwhile stays."""
        namespace, name = key.split("/")
        group = self.pod_groups.get(key)
        if group is None:
            return
        old = (group.get("status") or {}).keys()
        patch = {"metadata": {"uid": group["metadata"]["uid"]}, "status": {**dict.fromkeys(old), **status}}
        async with self._binding:
            self.pod_groups.remember(await self._api.patch(POD_GROUPS, name, patch, namespace))

    async def _tell(self, task: Task, message: str) -> None:
        """Write into the pod why it waits, once a message."""
        if self._told.get(task.uid) == message:
            return
        meta = task.raw["metadata"]
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        body = {"metadata": {"uid": meta["uid"]}, "status": {"conditions": [condition]}}
        async with self._binding:
            await self._api.patch(PODS, meta["name"], body, meta["namespace"], sub="status", content=STRATEGIC)
        self._told[task.uid] = message


async def _all(writes: Iterable[Awaitable[None]]) -> None:
    """Do them together; what meanwhile went away or changed is left to the next session."""
    for result in await asyncio.gather(*writes, return_exceptions=True):
        if isinstance(result, ApiError) and result.reason in EXPECTED:
            continue
        if isinstance(result, ApiError | aiohttp.ClientError | TimeoutError):
            print(f"write failed: {result}", file=sys.stderr, flush=True)
        elif isinstance(result, BaseException):
            raise result


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
