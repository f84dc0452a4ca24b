"""One test's part of the cluster: a namespace of its own, nodes, and the questions that tests ask."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from deploy.local.api import Api, Object, Resource
from deploy.local.audit import Write
from deploy.local.control_plane import ControlPlane
from deploy.local.nodes import create_nodes, rack_nodes
from deploy.local.processes import Child
from deploy.local.programs import Programs
from deploy.local.resources import (
    HYPER_NODES,
    LEADER_WORKER_SETS,
    NODES,
    POD_GROUPS,
    PODS,
    QUEUES,
    REVISIONS,
    STATEFUL_SETS,
)
from tests.integration.recorder import Event, Recorder

__all__ = ["World"]

T = TypeVar("T")
RECORDED = (LEADER_WORKER_SETS, PODS, POD_GROUPS, STATEFUL_SETS, REVISIONS)


@dataclass
class World:
    """Everything of a test that another could meet goes when it ends."""

    plane: ControlPlane
    api: Api
    namespace: str
    programs: Programs
    started: list[str] = field(default_factory=list)
    check: Callable[[], None] = field(default=lambda: None)
    """Raises once a rule was broken; asked while a test waits."""
    forgive: tuple[str, ...] = ()
    """Beginnings of breaches that the test itself brings about."""
    recording: Recorder | None = None
    """Of everything since the test began, where the observer is on."""

    # --- making things

    async def nodes(self, count: int, **shape: Any) -> list[str]:
        """Ready nodes in racks of four (see `rack_nodes`)."""
        return await create_nodes(self.api, rack_nodes(count, **shape))

    async def apply(self, resource: Resource, body: Object) -> Object:
        """Create or change an object, in this namespace where the kind has one."""
        return await self.api.apply(resource, self._placed(resource, body), "test")

    async def create(self, body: Object, resource: Resource = LEADER_WORKER_SETS) -> Object:
        """Create an object in this namespace; a LeaderWorkerSet unless told otherwise."""
        return await self.api.create(resource, self._placed(resource, body))

    async def change(self, name: str, **spec: Any) -> None:
        """Merge into the spec of a LeaderWorkerSet."""
        await self.api.patch(LEADER_WORKER_SETS, name, {"spec": spec}, self.namespace)

    async def change_template(self, name: str, **template: Any) -> None:
        """Merge into `spec.leaderWorkerTemplate` of a LeaderWorkerSet: a new revision."""
        await self.change(name, leaderWorkerTemplate=template)

    async def annotate(self, name: str, **annotations: str | None) -> None:
        """Change annotations of a LeaderWorkerSet (`gang="true"` is `lws-volcano.io/gang`); None removes one."""
        keyed = {key if "/" in key else f"lws-volcano.io/{key}": value for key, value in annotations.items()}
        await self.api.patch(LEADER_WORKER_SETS, name, {"metadata": {"annotations": keyed}}, self.namespace)

    async def scale(self, name: str, replicas: int) -> None:
        """Scale a LeaderWorkerSet through the scale sub-resource, as an autoscaler would."""
        await self.api.patch(LEADER_WORKER_SETS, name, {"spec": {"replicas": replicas}}, self.namespace, sub="scale")

    def run(self, name: str, argv: Sequence[str | Path], env: dict[str, str] | None = None) -> Child:
        """Start a program for this test; its log is in `plane.logs`."""
        self.started.append(name)
        return self.plane.supervisor.start(name, argv, env)

    def recorder(self, resources: Sequence[Resource] = RECORDED) -> Recorder:
        """Records this namespace while it is entered."""
        return Recorder(self.api, resources, self.namespace)

    # --- looking

    @property
    def events(self) -> list[Event]:
        """What happened so far, in order; needs `recording`."""
        assert self.recording is not None
        return self.recording.events

    async def pods(self, lws: str = "") -> list[Object]:
        """Pods of one LeaderWorkerSet, or all here, by name."""
        selector = {"labelSelector": f"leaderworkerset.sigs.k8s.io/name={lws}"} if lws else {}
        found = await self.api.list(PODS, self.namespace, **selector)
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    async def pod_groups(self) -> dict[str, Object]:
        """PodGroups here, by name."""
        return {group["metadata"]["name"]: group for group in await self.api.list(POD_GROUPS, self.namespace)}

    async def eventually(self, look: Callable[[], Awaitable[T]], timeout: float = 30) -> T:  # noqa: ASYNC109
        """Repeat `look` until it gives something true, without AssertionError; its last answer or failure counts."""
        deadline = time.monotonic() + timeout
        while True:
            self.check()
            started = time.monotonic()
            try:
                found = await look()
                if found or time.monotonic() > deadline:
                    assert found, f"still {found!r} after {timeout} s"
                    return found
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
            # A look at much costs the API server much: it is given as long again, so that others get on.
            await asyncio.sleep(max(0.1, time.monotonic() - started))

    async def running(self, lws: str, count: int, timeout: float = 30) -> list[Object]:  # noqa: ASYNC109
        """Wait until exactly `count` pods of a LeaderWorkerSet exist and run; gives them."""

        async def look() -> list[Object] | None:
            pods = await self.pods(lws)
            running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
            states = {pod["metadata"]["name"]: _state(pod) for pod in pods}
            assert len(running) == len(pods) == count, f"wanted {count} running, have {states}"
            return pods or [{}]

        return await self.eventually(look, timeout)

    def writes_of(self, user: str, since: int = 0) -> list[Write]:
        """Writes of one user, from the audit log, leaving out the first `since`."""
        return [write for write in self.plane.writes() if write.user == user][since:]

    # --- cleaning up

    async def clean(self) -> None:
        """Remove what the test made: its programs, sets and pods, nodes, HyperNodes and queues."""
        self.check = lambda: None
        for name in self.started:
            await asyncio.to_thread(self.plane.supervisor.stop, name)
        await self._empty(LEADER_WORKER_SETS)
        await self._empty(STATEFUL_SETS)
        await self._empty(POD_GROUPS)
        await self._free_pods()
        for resource in (NODES, HYPER_NODES):
            await self.api.request("DELETE", resource.path())
        for queue in await self.api.list(QUEUES):
            if queue["metadata"]["name"] not in {"default", "root"}:
                await self.api.delete(QUEUES, queue["metadata"]["name"])

    async def _empty(self, resource: Resource) -> None:
        await self.api.request("DELETE", resource.path(self.namespace))

    async def _free_pods(self) -> None:
        """End the pods at once, finalizers or not: the next test needs an empty cluster."""
        for pod in await self.pods():
            meta = pod["metadata"]
            if meta.get("finalizers"):
                await self.api.patch(PODS, meta["name"], {"metadata": {"finalizers": None}}, self.namespace)
            await self.api.delete(PODS, meta["name"], self.namespace, gracePeriodSeconds=0)

        async def gone() -> bool:
            return not await self.pods()

        await self.eventually(gone)

    def _placed(self, resource: Resource, body: Object) -> Object:
        meta = {**body["metadata"], **({"namespace": self.namespace} if resource.namespaced else {})}
        return {**body, "metadata": meta}


def _state(pod: Object) -> str:
    """How far a pod got and what it waits for, in a few words: all that a failure far away leaves to read."""
    spec, status = pod["spec"], pod["status"]
    waits = [
        f"{one.get('reason')}: {one.get('message')}" for one in status.get("conditions", ()) if one["status"] == "False"
    ]
    gates = [f"gate {one['name']}" for one in spec.get("schedulingGates", ())]
    return ", ".join([str(status.get("phase")), f"node {spec.get('nodeName')}", *gates, *waits])
