"""Do groups get the nodes that the planner had in mind: `python -m benchmarks.hints [--nodes 32 640] [--groups 10]`.

LeaderWorkerSets of one group are made on a real API server with KWOK nodes, half of them taken by pods of others. Each
fill is met twice, with hints and without (`lws-volcano.io/placement: none`), through the webhook, LWS, the controller
and the scheduler: real programs where the environment names them (see CONTRIBUTING.md), else the stand-ins. Read from
the API server afterwards: where the pods went, and the plan on the PodGroup.

Columns: `in order`, groups whose ranks follow the order of the topology; `as planned`, those that sit on exactly the
nodes planned for the domain they landed in; `first choice`, in the domain that the planner preferred; `racks`, domains
of the lowest tier a group, on average, and at best.
"""

import argparse
import asyncio
import dataclasses
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from deploy.local.api import Api
from deploy.local.control_plane import ControlPlane
from deploy.local.controller import start_controller
from deploy.local.nodes import RACK, SPINE, create_nodes, rack_nodes
from deploy.local.programs import Programs, start_programs
from deploy.local.real_programs import RealPrograms
from deploy.local.resources import CLUSTER_TOPOLOGIES, HYPER_NODES, LEADER_WORKER_SETS, PODS
from lws_volcano.api.names import (
    GANG,
    NETWORK_TOPOLOGY_HIGHEST_TIER,
    NETWORK_TOPOLOGY_MODE,
    PLACEMENT,
    PLAN,
    WORKER_INDEX,
)
from lws_volcano.cli.table import table
from lws_volcano.placement.plan_format import read_annotation

ROOT: Final = Path(__file__).resolve().parents[1]
NAMESPACE: Final = "default"
GPU: Final = "nvidia.com/gpu"
COLUMNS: Final = (
    "nodes", "asked", "pods", "hints", "groups", "placed", "in order", "as planned", "first choice", "racks", "at best",
)  # fmt: skip
PATIENCE: Final = 30.0
SETTLED: Final = 0.6
"""Seconds after which what was made or deleted has reached all caches."""
MOVED: Final = 10
"""Fillers that move from one fill to the next."""


@dataclass(frozen=True)
class Cluster:
    """Nodes in racks in spines, by place; every pod of this benchmark takes a whole node."""

    nodes: int
    per_rack: int
    racks_per_spine: int

    @classmethod
    def of(cls, nodes: int) -> "Cluster":
        """Racks of 4, spines of 4; from 128 nodes on racks of 16 and spines of up to 8: half of 128 nodes are free."""
        return cls(nodes, 16, min(8, nodes // 32)) if nodes >= 128 else cls(nodes, 4, 4)  # noqa: PLR2004

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The Node objects."""
        return rack_nodes(self.nodes, per_rack=self.per_rack, racks_per_spine=self.racks_per_spine)

    @property
    def names(self) -> list[str]:
        """Node names by place."""
        return [node["metadata"]["name"] for node in self.objects]

    def rack(self, place: int) -> int:
        """Rack of a place."""
        return place // self.per_rack

    def free(self, taken: set[int], size: int) -> list[int]:
        """Free nodes of each domain of so many nodes."""
        return [sum(p not in taken for p in range(lo, lo + size)) for lo in range(0, self.nodes, size)]


@dataclass(frozen=True)
class Ask:
    """What a group asks for.

    Attributes
    ----------
    racks
        Racks that the best placement needs.
    parts
        Sub-groups, 0 for none.
    """

    name: str
    annotations: Mapping[str, str]
    racks: int
    parts: int = 0

    def size(self, cluster: Cluster) -> int:
        """Pods: three quarters of half a rack, or a rack and a half of what is free."""
        return max(2, 3 * cluster.per_rack // 8) + 1 if self.racks == 1 else 3 * cluster.per_rack // 4 + 3

    def fits(self, cluster: Cluster, taken: set[int]) -> bool:
        """The best placement takes exactly that many racks."""
        racks = sorted(cluster.free(taken, cluster.per_rack), reverse=True)
        size = self.size(cluster)
        if self.racks == 1:
            return racks[0] >= size
        width = cluster.racks_per_spine
        by_rack = cluster.free(taken, cluster.per_rack)
        pairs = (sum(sorted(by_rack[at : at + width])[-2:]) for at in range(0, len(by_rack), width))
        return racks[0] < size and max(pairs) >= size


def _asks() -> list[Ask]:
    hard = {NETWORK_TOPOLOGY_MODE: "hard"}
    soft = {NETWORK_TOPOLOGY_MODE: "soft"}
    return [
        Ask("hard rack", {**hard, NETWORK_TOPOLOGY_HIGHEST_TIER: "rack"}, 1),
        Ask("hard spine", {**hard, NETWORK_TOPOLOGY_HIGHEST_TIER: "spine"}, 2),
        Ask("soft, one rack", soft, 1),
        Ask("soft, two racks", soft, 2),
        Ask("nothing, one rack", {}, 1),
        Ask("nothing, two racks", {}, 2),
        Ask("sub-groups, hard spine", {**hard, NETWORK_TOPOLOGY_HIGHEST_TIER: "spine"}, 2, parts=3),
        Ask("sub-groups, nothing", {}, 2, parts=3),
    ]


@dataclass
class Score:
    """What became of the groups of one ask, with or without hints."""

    groups: int = 0
    placed: int = 0
    in_order: int = 0
    as_planned: int = 0
    first_choice: int = 0
    racks: int = 0

    def add(self, cluster: Cluster, nodes: Sequence[str], landings: Sequence[Sequence[str]]) -> None:
        """One group: node by rank (empty for a pod without one), and the nodes planned for every landing."""
        self.groups += 1
        if not all(nodes):
            return
        place = {name: at for at, name in enumerate(cluster.names)}
        places = [place[name] for name in nodes]
        self.placed += 1
        self.in_order += all(left <= right for left, right in pairwise(places))
        self.as_planned += list(nodes) in [list(one) for one in landings]
        self.first_choice += bool(landings) and list(nodes) == list(landings[0])
        self.racks += len({cluster.rack(one) for one in places})

    def cells(self, *, hints: bool) -> tuple[str, ...]:
        """Columns of the table, from `groups` on."""
        planned = (f"{self.as_planned}/{self.groups}", f"{self.first_choice}/{self.groups}") if hints else ("", "")
        mean = f"{self.racks / self.placed:.2f}" if self.placed else ""
        return str(self.groups), str(self.placed), f"{self.in_order}/{self.groups}", *planned, mean


class Course:
    """All asks on one cluster."""

    def __init__(self, cluster: Cluster, groups: int, api: Api) -> None:
        self.cluster, self.groups, self.api = cluster, groups, api
        self.random = random.Random(7)  # noqa: S311 - a simulation
        self.taken: set[int] = set()
        self.made = 0

    async def run(self, asks: Sequence[Ask]) -> list[tuple[str, ...]]:
        """Rows of the table."""
        rows: list[tuple[str, ...]] = []
        for ask in asks:
            scores = {hints: Score() for hints in (False, True)}
            for _ in range(self.groups):
                await self._refill(ask)
                for hints, score in scores.items():
                    score.add(self.cluster, *await self._group(ask, hints=hints))
            for hints, score in scores.items():
                head = (str(self.cluster.nodes), ask.name, str(ask.size(self.cluster)), "yes" if hints else "no")
                rows.append((*head, *score.cells(hints=hints), str(ask.racks)))
                print("...", *rows[-1], file=sys.stderr, flush=True)
        return rows

    async def _refill(self, ask: Ask) -> None:
        """Half of the nodes taken, by others than before, so that the ask has room in just its number of racks."""
        places, half = range(self.cluster.nodes), self.cluster.nodes // 2
        for _ in range(100_000):
            kept = set(self.random.sample(sorted(self.taken), max(0, len(self.taken) - MOVED)))
            wanted = kept | set(self.random.sample(sorted(set(places) - kept), half - len(kept)))
            if wanted != self.taken and ask.fits(self.cluster, wanted):
                break
            self.taken = self.taken if len(self.taken) == half and self.cluster.nodes > MOVED * 8 else set()
        else:
            raise SystemExit(f"no fill found for {ask.name} on {self.cluster.nodes} nodes")
        present = {pod["metadata"]["name"] for pod in await self.api.list(PODS, NAMESPACE) if _filler(pod)}
        names = {f"filler-{place}": place for place in wanted}
        await asyncio.gather(
            *(self.api.delete(PODS, name, NAMESPACE, gracePeriodSeconds=0) for name in present - names.keys()),
            *(self.api.create(PODS, self._taker(name, names[name])) for name in names.keys() - present),
        )
        self.taken = wanted
        await asyncio.sleep(SETTLED)

    def _taker(self, name: str, place: int) -> dict[str, Any]:
        spec = {**_pod_spec(), "nodeName": self.cluster.names[place], "schedulerName": "none"}
        return {"metadata": {"name": name, "namespace": NAMESPACE, "labels": {"filler": "yes"}}, "spec": spec}

    async def _group(self, ask: Ask, *, hints: bool) -> tuple[list[str], list[Sequence[str]]]:
        """Make one group, wait for its nodes, and remove it."""
        self.made += 1
        name, size = f"g{self.made}", ask.size(self.cluster)
        annotations = {GANG: "true", **ask.annotations, **({} if hints else {PLACEMENT: "none"})}
        metadata = {"name": name, "namespace": NAMESPACE, "annotations": annotations}
        template: dict[str, Any] = {"size": size, "workerTemplate": {"spec": _pod_spec()}}
        if ask.parts:
            template["subGroupPolicy"] = {"subGroupSize": size // ask.parts}
        spec = {"replicas": 1, "leaderWorkerTemplate": template}
        await self.api.create(LEADER_WORKER_SETS, {"metadata": metadata, "spec": spec})
        pods = await self._placed(size)
        await self.api.delete(LEADER_WORKER_SETS, name, NAMESPACE, propagationPolicy="Background")
        await self._gone()
        by_rank = {int(pod["metadata"]["labels"].get(WORKER_INDEX, "0")): pod for pod in pods}
        plan = (by_rank[0]["metadata"].get("annotations") or {}).get(PLAN) if 0 in by_rank else None
        nodes = [by_rank[rank]["spec"].get("nodeName", "") if rank in by_rank else "" for rank in range(size)]
        return nodes, [] if plan is None else [one.nodes for one in read_annotation(plan).landings]

    async def _placed(self, size: int) -> list[dict[str, Any]]:
        deadline = time.monotonic() + PATIENCE
        while True:
            pods = [pod for pod in await self.api.list(PODS, NAMESPACE) if not _filler(pod)]
            bound = sum("nodeName" in pod["spec"] for pod in pods)
            if bound == size or time.monotonic() > deadline:
                return pods
            await asyncio.sleep(0.2)

    async def _gone(self) -> None:
        while any(not _filler(pod) for pod in await self.api.list(PODS, NAMESPACE)):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
        await asyncio.sleep(SETTLED)


def _pod_spec() -> dict[str, Any]:
    resources = {"requests": {"cpu": "4", GPU: "8"}, "limits": {GPU: "8"}}
    container = {"name": "main", "image": "example.com/serve:1", "resources": resources}
    return {"schedulerName": "volcano", "terminationGracePeriodSeconds": 0, "containers": [container]}


def _filler(pod: Mapping[str, Any]) -> bool:
    return "filler" in (pod["metadata"].get("labels") or {})


async def _topology(api: Api, cluster: Cluster) -> None:
    """Racks and spines from the nodes' labels, and the HyperNodes that come of it."""
    spec = {
        "tiers": [{"name": "rack"}, {"name": "spine"}],
        "nodeLabels": [{"tier": "rack", "key": RACK}, {"tier": "spine", "key": SPINE}],
    }
    await api.create(CLUSTER_TOPOLOGIES, {"metadata": {"name": "bench"}, "spec": spec})
    racks = -(-cluster.nodes // cluster.per_rack)
    deadline = time.monotonic() + PATIENCE
    while len(await api.list(HYPER_NODES)) < racks + -(-racks // cluster.racks_per_spine):
        if time.monotonic() > deadline:
            raise SystemExit("the HyperNodes did not come")
        await asyncio.sleep(0.2)
    await asyncio.sleep(SETTLED)


async def _measure(cluster: Cluster, groups: int, asks: Sequence[Ask], *, whole: bool) -> list[tuple[str, ...]]:
    flags = ("--schedule-period=200ms", *(("--percentage-nodes-to-find=100",) if whole else ()))
    real = dataclasses.replace(RealPrograms.from_environment(), scheduler_args=flags)
    async with ControlPlane(crds=sorted((ROOT / "crds").glob("*.yaml"))) as plane, plane.api("bench") as api:
        programs = await start_programs(plane, real=real)
        await create_nodes(api, cluster.objects)
        config = plane.folder / "bench.yaml"
        config.write_text(f"scheduler_looks_at_all_nodes: {str(whole).lower()}\n", encoding="utf-8")
        await start_controller(plane, api, "--config", str(config))
        await _topology(api, cluster)
        print(_who(programs), file=sys.stderr, flush=True)
        return await Course(cluster, groups, api).run(asks)


def _who(programs: Programs) -> str:
    kinds = {True: "real", False: "stand-in"}
    return f"LeaderWorkerSet: {kinds[programs.real_lws]}, Volcano: {kinds[programs.real_volcano]}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[32, 640], help="clusters, default: 32 640")
    parser.add_argument("--groups", type=int, default=10, help="groups a line, default: %(default)s")
    parser.add_argument("--only", default="", metavar="TEXT", help="asks whose name starts so, such as hard or soft")
    parser.add_argument("--look-at-all", action="store_true", help="the scheduler looks at all nodes for every pod")
    args = parser.parse_args(argv)
    asks = [ask for ask in _asks() if ask.name.startswith(args.only)]
    rows: list[tuple[str, ...]] = []
    for nodes in args.nodes:
        rows += asyncio.run(_measure(Cluster.of(nodes), args.groups, asks, whole=args.look_at_all))
    print(table(COLUMNS, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
