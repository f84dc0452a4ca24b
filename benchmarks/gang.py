"""From leader pods to PodGroups: `python -m benchmarks.gang [--groups 100 1000] [--size 4]`.

One LeaderWorkerSet of N groups is created at once on a real API server with KWOK nodes. Measured at the watch: the time
from each leader pod to its PodGroup, and from the LeaderWorkerSet to the last leader pod, PodGroup and pod; counted by
the API server's audit log: writes per group; read from the process: CPU and peak memory. Runs with the controller
manager's own limits (5 StatefulSets at a time, 20 requests a second) and with raised ones, because those decide how
fast pods come.

Where the environment names the real LWS (see CONTRIBUTING.md), its own Volcano provider runs the same course too.
"""

import argparse
import asyncio
import dataclasses
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import psutil

from deploy.local.api import Api
from deploy.local.components import Options
from deploy.local.control_plane import ControlPlane
from deploy.local.controller import start_controller
from deploy.local.nodes import NodeShape, create_nodes, rack_nodes
from deploy.local.processes import Child
from deploy.local.programs import LWS_USER, start_programs
from deploy.local.real_programs import RealPrograms
from deploy.local.resources import LEADER_WORKER_SETS, POD_GROUPS, PODS
from lws_volcano.api.names import GANG, GROUP_INDEX, WORKER_INDEX
from lws_volcano.cli.table import table

NAMESPACE: Final = "default"
NAME: Final = "bench"
OURS, PROVIDER = "lws-volcano", "LWS provider"
LIMITS: Final = {"default": Options(statefulset_syncs=5, kube_api_qps=20), "raised": Options()}
COLUMNS: Final = (
    "writer", "pod limits", "groups", "pods", "p50 ms", "p99 ms", "max ms", "last leader s", "last PodGroup s",
    "last pod s", "writes/group", "CPU s", "peak MiB",
)  # fmt: skip
PATIENCE: Final = 600.0
USER: Final = "lws-volcano-bench"
EVERYTHING: Final = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, nargs="+", default=[100, 1000], help="default: 100 1000")
    parser.add_argument("--size", type=int, default=4, help="pods in a group, default: %(default)s")
    parser.add_argument("--limits", choices=sorted(LIMITS), nargs="+", default=sorted(LIMITS), help="default: both")
    parser.add_argument("--ours", action="store_true", help="leave LWS's own provider out")
    args = parser.parse_args(argv)
    real = RealPrograms.from_environment()
    writers = [OURS, PROVIDER] if real.lws_manager and not args.ours else [OURS]
    rows = []
    for groups in args.groups:
        for limits in args.limits:
            for writer in writers:
                course = Course(writer, limits, groups, args.size)
                print(f"... {groups} groups of {args.size}, {limits} limits, {writer}", file=sys.stderr, flush=True)
                rows.append(asyncio.run(course.run(real)).row(course))
                print("...", *rows[-1], file=sys.stderr, flush=True)
    print(table(COLUMNS, rows))
    return 0


@dataclass(frozen=True)
class Outcome:
    """What one course took; times in seconds."""

    delays: Sequence[float]
    last_leader: float
    last_pod_group: float
    last_pod: float
    pods: int
    writes: int
    cpu: float
    peak: int

    def row(self, course: "Course") -> tuple[str, ...]:
        """A line of the table."""
        cuts = statistics.quantiles(self.delays, n=100) if len(self.delays) > 1 else [self.delays[0]] * 99
        numbers = (cuts[49] * 1000, cuts[98] * 1000, max(self.delays) * 1000)
        return (
            course.writer,
            course.limits,
            str(course.groups),
            str(self.pods),
            *(f"{number:.0f}" for number in numbers),
            f"{self.last_leader:.1f}",
            f"{self.last_pod_group:.1f}",
            f"{self.last_pod:.1f}",
            f"{self.writes / course.groups:.2f}",
            f"{self.cpu:.1f}",
            f"{self.peak / 2**20:.0f}",
        )


@dataclass(frozen=True)
class Course:
    """One run."""

    writer: str
    limits: str
    groups: int
    size: int

    async def run(self, real: RealPrograms) -> Outcome:
        """Start everything, create the set, wait for its last PodGroup and pod."""
        provider = self.writer == PROVIDER
        programs = dataclasses.replace(real, lws_provider=True) if provider else real
        async with ControlPlane(LIMITS[self.limits]) as plane, plane.api("bench") as api:
            started = await start_programs(plane, period=1.0, real=programs)
            shape = NodeShape({"cpu": "100000", "memory": "100Ti", "pods": "100000"})
            await create_nodes(api, rack_nodes(16, shape=shape))
            child = plane.supervisor.children[started.lws[0]] if provider else await _controller(plane, api)
            user = LWS_USER if provider else USER
            before = len(_writes(plane, user))
            with _Meter(child) as meter:
                births, begun = await self._watched(api)
            writes = _writes(plane, user)[before:]
        counted = [one for one in writes if not provider or one.resource == "podgroups"]
        return _outcome(births, begun, len(counted), meter)

    async def _watched(self, api: Api) -> tuple[Mapping[str, Mapping[str, float]], float]:
        """First sight of every pod and PodGroup, and the moment of creation."""
        async with _births(api) as births:
            begun = time.monotonic()
            await api.create(LEADER_WORKER_SETS, self._set())
            deadline = begun + PATIENCE
            while len(births[PODS.kind]) < self.groups * self.size or len(births[POD_GROUPS.kind]) < self.groups:
                if time.monotonic() > deadline:
                    raise SystemExit(f"only {len(births[POD_GROUPS.kind])} PodGroups after {PATIENCE:.0f} s")
                await asyncio.sleep(0.1)
            await asyncio.sleep(3)  # writes that follow late count too
            return births, begun

    def _set(self) -> dict[str, Any]:
        resources = {"requests": {"cpu": "1"}}
        container = {"name": "main", "image": "example.com/serve:1", "resources": resources}
        spec = {"schedulerName": "volcano", "terminationGracePeriodSeconds": 1, "containers": [container]}
        annotations = {} if self.writer == PROVIDER else {GANG: "true"}
        return {
            "metadata": {"name": NAME, "namespace": NAMESPACE, "annotations": annotations},
            "spec": {
                "replicas": self.groups,
                "leaderWorkerTemplate": {"size": self.size, "workerTemplate": {"spec": spec}},
            },
        }


async def _controller(plane: ControlPlane, api: Api) -> Child:
    kubeconfig = await plane.kubeconfig_for(USER, EVERYTHING)
    return (await start_controller(plane, api, kubeconfig=kubeconfig)).child


def _writes(plane: ControlPlane, user: str) -> list[Any]:
    return [write for write in plane.writes() if write.user == user and write.resource not in {"leases", "events"}]


@asynccontextmanager
async def _births(api: Api) -> AsyncIterator[dict[str, dict[str, float]]]:
    """Kind -> key -> time of its first event; leader pods and PodGroups are keyed by group index."""
    births: dict[str, dict[str, float]] = {PODS.kind: {}, POD_GROUPS.kind: {}}

    async def follow(resource: Any) -> None:
        version = (await api.request("GET", resource.path(NAMESPACE)))["metadata"]["resourceVersion"]
        while True:
            # A busy API server ends the watches of those who read too slowly.
            async for event in api.watch(resource, NAMESPACE, version):
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] == "ADDED":
                    births[resource.kind].setdefault(_key(event["object"]), time.monotonic())

    tasks = [asyncio.create_task(follow(resource)) for resource in (PODS, POD_GROUPS)]
    await asyncio.sleep(0.5)
    try:
        yield births
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _key(found: Mapping[str, Any]) -> str:
    labels = found["metadata"].get("labels") or {}
    group = str(labels.get(GROUP_INDEX, found["metadata"]["name"]))
    return f"{group}/{labels[WORKER_INDEX]}" if labels.get(WORKER_INDEX, "0") != "0" else group


def _outcome(births: Mapping[str, Mapping[str, float]], begun: float, writes: int, meter: "_Meter") -> Outcome:
    pods, groups = births[PODS.kind], births[POD_GROUPS.kind]
    return Outcome(
        delays=[max(born - pods[group], 0.0) for group, born in groups.items() if group in pods],
        last_leader=max(born for key, born in pods.items() if "/" not in key) - begun,
        last_pod_group=max(groups.values()) - begun,
        last_pod=max(pods.values()) - begun,
        pods=len(pods),
        writes=writes,
        cpu=meter.cpu,
        peak=meter.peak,
    )


class _Meter:
    """CPU seconds of a process inside the `with`, and the most memory it ever had."""

    def __init__(self, child: Child) -> None:
        self._process = psutil.Process(child.pid)
        self.cpu, self.peak = 0.0, 0

    def __enter__(self) -> Self:
        self._before = sum(self._process.cpu_times()[:2])
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = sum(self._process.cpu_times()[:2]) - self._before
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        self.peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    raise SystemExit(main())
