"""Latency of admission: `python -m benchmarks.webhook [--rate 200] [--seconds 20] [--nodes 5000]`.

The server runs in a process of its own, over TLS on loopback, with its caches filled; this process calls it as an API
server does, on kept connections, at a fixed rate (a slow answer does not slow the next call down), then as fast as it
answers. Times are the caller's: TLS, HTTP, JSON and the decision. No API server, no direct reads.

With `--nodes` there is a topology of so many nodes and ten times as many bound pods, and every pod gets its hints. None
finds a plan on its leader, so each is planned anew: the worst case, in practice that is one pod of a group.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import ssl
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any, Final

import aiohttp

from benchmarks.webhook_fleet import fleet
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.controller.responsiveness import keep_caches_frozen, switch_threads_often
from lws_volcano.kube.clock import SystemClock
from lws_volcano.observe.address import Address
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.handler import Handler, Known
from lws_volcano.webhook.keeper import CertificateKeeper, KeeperOptions, server_context
from lws_volcano.webhook.lookup import Lookup, Source
from lws_volcano.webhook.planned_hints import PlannedHints
from lws_volcano.webhook.server import Server

LWS: Final = "leaderworkerset.sigs.k8s.io/"
HASH: Final = "5f4b9c8d7"
SIZE: Final = 8


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("sets", 1000), ("pods", 5000), ("rate", 200), ("seconds", 20), ("nodes", 0)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help="default: %(default)s")
    args = parser.parse_args(argv)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, args.sets, args.pods, args.nodes))
    server.start()
    try:
        port, bundle = ours.recv()
        fleet_size = f", {args.nodes} nodes to plan on" if args.nodes else ""
        print(
            f"{args.sets} LeaderWorkerSets, {args.pods} pods in the cache{fleet_size}; reviews of {len(body(0))} bytes"
        )
        print(f"{'load':>16} {'requests':>9} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8} {'errors':>7}")
        calls = asyncio.run(measure(port, bundle, args))
        ours.send("stop")
        print(f"the server's processor time: {ours.recv() / calls * 1e3:.2f} ms a request, HTTP and TLS included")
    finally:
        ours.close()
        server.join(10)
    return 0


def serve(pipe: Connection, sets: int, pods: int, nodes: int) -> None:
    """The server's process: until something comes through the pipe."""
    switch_threads_often()
    asyncio.run(_serve(pipe, sets, pods, nodes))


async def _serve(pipe: Connection, sets: int, pods: int, nodes: int) -> None:
    cluster = filled(sets, pods)
    capacity = fleet(nodes) if nodes else None
    hints = PlannedHints(lambda: capacity, cluster, Settings())
    store = cluster.kinds.lws.store
    clock = SystemClock()

    async def absent(_namespace: str, _name: str) -> LeaderWorkerSet | None:
        return None

    source = Source(cached=lambda ns, name: store.get(f"{ns}/{name}"), read=absent, clock=clock.monotonic)
    known = Known(cluster=cluster, lookup=Lookup(source), hints=hints, settings=Settings(), clock=clock)
    context = server_context()
    keeper = CertificateKeeper(context, KeeperOptions(names=("127.0.0.1",), store=None, clock=clock))
    await keeper.step()
    server = Server(Handler(known), context, Address("127.0.0.1", 0), drain=0.0, finish=5.0)
    frozen = asyncio.create_task(keep_caches_frozen(lambda: True, clock))
    await asyncio.sleep(0)
    await server.start()
    pipe.send((server.port, keeper.ca_bundle.decode()))
    began = time.process_time()
    with contextlib.suppress(EOFError):
        await asyncio.to_thread(pipe.recv)
        pipe.send(time.process_time() - began)
    frozen.cancel()
    await server.stop()


def filled(sets: int, pods: int) -> Cluster:
    """Caches of a busy cluster."""
    cluster = Cluster()
    for number in range(sets):
        cluster.kinds.lws.store.upsert(LeaderWorkerSet.parse(leader_worker_set(number)), number + 1)
        cluster.kinds.pod_groups.store.upsert(PodGroup.parse(pod_group(number)), number + 1)
    for number in range(pods):
        raw = pod(number % sets, number // sets)
        raw["metadata"] |= {"name": f"busy-{number}", "uid": f"pod-{number}"}
        cluster.kinds.pods.store.upsert(Pod.parse(raw), number + 1)
    return cluster


def template() -> dict[str, Any]:
    """A pod spec of a usual size: 40 variables, probes, volumes."""
    container = {
        "name": "serve",
        "image": "example.com/serve:1",
        "args": [f"--option-{n}=value-{n}" for n in range(30)],
        "env": [{"name": f"VARIABLE_{n}", "value": "v" * 40} for n in range(40)],
        "resources": {"requests": {"cpu": "32", "memory": "512Gi"}, "limits": {"nvidia.com/gpu": "8"}},
        "volumeMounts": [{"name": f"v{n}", "mountPath": f"/mnt/v{n}"} for n in range(6)],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}},
    }
    volumes = [{"name": f"v{n}", "emptyDir": {}} for n in range(6)]
    return {"schedulerName": "volcano", "containers": [container], "volumes": volumes}


def leader_worker_set(number: int) -> dict[str, Any]:
    """One that is opted in."""
    return {
        "metadata": {
            "namespace": f"team-{number % 20}",
            "name": f"model-{number}",
            "uid": f"lws-{number}",
            "annotations": {"lws-volcano.io/gang": "true"},
        },
        "spec": {"replicas": 4, "leaderWorkerTemplate": {"size": SIZE, "workerTemplate": {"spec": template()}}},
    }


def pod_group(number: int) -> dict[str, Any]:
    """PodGroup of its first group."""
    owner = {"kind": "LeaderWorkerSet", "name": f"model-{number}", "uid": f"lws-{number}", "controller": True}
    metadata = {"namespace": f"team-{number % 20}", "name": f"model-{number}-0-{HASH}", "ownerReferences": [owner]}
    tasks = {"leader": 1, "worker": SIZE - 1}
    return {"metadata": metadata | {"uid": f"pg-{number}"}, "spec": {"minMember": SIZE, "minTaskMember": tasks}}


def pod(number: int, rank: int) -> dict[str, Any]:
    """A member at its admission."""
    labels = {
        LWS + "name": f"model-{number}",
        LWS + "group-index": "0",
        LWS + "worker-index": str(rank % SIZE),
        LWS + "template-revision-hash": HASH,
    }
    metadata = {"namespace": f"team-{number % 20}", "name": f"model-{number}-0-{rank}", "labels": labels}
    return {"metadata": metadata | {"annotations": {LWS + "size": str(SIZE)}}, "spec": template()}


def body(number: int) -> bytes:
    """Review of one pod."""
    found = pod(number, number)
    request = {
        "uid": str(number),
        "kind": {"kind": "Pod", "version": "v1"},
        "operation": "CREATE",
        "namespace": found["metadata"]["namespace"],
        "object": found,
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


async def measure(port: int, bundle: str, args: argparse.Namespace) -> int:
    """Both loads; the number of calls made."""
    trust = ssl.create_default_context(cadata=bundle)
    url = f"https://127.0.0.1:{port}/mutate-pods"
    bodies = [body(number % args.sets) for number in range(256)]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust, limit=64)) as session:
        caller = Caller(session, url, bodies)
        await caller.steady(args.rate, 1.0)
        caller.clear()
        await caller.steady(args.rate, args.seconds)
        caller.print(f"{args.rate}/s")
        caller.clear()
        began = time.perf_counter()
        await caller.flat_out(8, args.seconds / 4)
        caller.print(f"{len(caller.times) / (time.perf_counter() - began):.0f}/s flat out")
        return caller.calls


class Caller:
    """Calls and keeps the times."""

    def __init__(self, session: aiohttp.ClientSession, url: str, bodies: Sequence[bytes]) -> None:
        self._session = session
        self._url = url
        self._bodies = self._endless(bodies)
        self.calls = 0
        self.clear()

    def clear(self) -> None:
        """Forget what was measured."""
        self.times: list[float] = []
        self.errors = 0

    async def steady(self, rate: int, seconds: float) -> None:
        """Calls at fixed moments, whatever has become of the earlier ones."""
        began = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for number in range(int(rate * seconds)):
                due = began + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                tasks.create_task(self._call(due))

    async def flat_out(self, callers: int, seconds: float) -> None:
        """Each caller calls again as soon as it is answered."""
        end = time.perf_counter() + timedelta(seconds=seconds).total_seconds()

        async def one() -> None:
            while time.perf_counter() < end:
                await self._call(time.perf_counter())

        async with asyncio.TaskGroup() as tasks:
            for _ in range(callers):
                tasks.create_task(one())

    def print(self, load: str) -> None:
        """One row."""
        times = sorted(self.times)
        p50, p99 = (times[int(len(times) * share)] * 1e3 for share in (0.5, 0.99))
        print(f"{load:>16} {len(times):>9} {p50:>8.2f} {p99:>8.2f} {times[-1] * 1e3:>8.2f} {self.errors:>7}")

    async def _call(self, due: float) -> None:
        async with self._session.post(self._url, data=next(self._bodies)) as answer:
            response = (await answer.json())["response"]
        self.errors += not (response["allowed"] and response.get("patch"))
        self.times.append(time.perf_counter() - due)
        self.calls += 1

    @staticmethod
    def _endless(bodies: Sequence[bytes]) -> Iterator[bytes]:
        while True:
            yield from bodies


if __name__ == "__main__":
    raise SystemExit(main())
