"""Two model servers on sixteen simulated nodes: what fits runs whole, what does not fit holds nothing.

A real API server, etcd, controller manager and KWOK nodes; LeaderWorkerSet and Volcano are stand-ins, or the real
programs where the environment names them. Everything printed is read back from the API server.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.demo.births import Births
from deploy.demo.report import Report, read_back
from deploy.local.api import Api
from deploy.local.control_plane import ControlPlane
from deploy.local.controller import start_controller
from deploy.local.errors import LocalError
from deploy.local.nodes import NodeShape, create_nodes, nodes_from_topology
from deploy.local.programs import start_programs
from deploy.local.resources import CLUSTER_TOPOLOGIES, HYPER_NODES, LEADER_WORKER_SETS, NAMESPACES

ROOT: Final = Path(__file__).resolve().parents[2]
TOPOLOGY: Final = ROOT / "topology" / "two-racks.yaml"
EXAMPLES: Final = ROOT / "deploy" / "examples"
SERVERS: Final = {"vllm.yaml": 4, "sglang.yaml": 2}
"""Manifest -> groups: 4 of 2 nodes and 2 of 4 fill the 16 nodes."""
NAMESPACE: Final = "models"
NODE: Final = NodeShape(
    {"cpu": "128", "memory": "2Ti", "ephemeral-storage": "8Ti", "nvidia.com/gpu": "8", "rdma/hca": "8", "pods": "110"}
)
PATIENCE: Final = 60.0
SETTLED: Final = 3.0


def main() -> int:
    """0 when everything went as told, 1 when it did not, 2 on wrong usage, 130 on Ctrl-C."""
    argparse.ArgumentParser(prog="python -m deploy.demo", description=__doc__).parse_args()
    try:
        return asyncio.run(_demo())
    except LocalError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


async def _demo() -> int:
    started = time.monotonic()
    async with ControlPlane(crds=sorted((ROOT / "crds").glob("*.yaml"))) as plane:
        parts = "etcd, kube-apiserver, kube-controller-manager, KWOK"
        print(f"... control plane: {parts}  {time.monotonic() - started:.1f} s")
        with _step("LeaderWorkerSet and Volcano"):
            programs = await start_programs(plane)
        async with plane.api("lws-volcano-demo") as api:
            with _step(f"nodes of {TOPOLOGY.relative_to(ROOT)}"):
                await create_nodes(api, nodes_from_topology(TOPOLOGY, NODE))
            with _step("lws-volcano: controller and webhook"):
                await start_controller(plane, api)
            with _step("its ClusterTopology, and the HyperNodes that come of it"):
                await _apply_topology(api)
            await api.ensure(NAMESPACES, {"metadata": {"name": NAMESPACE}})
            print(f"LeaderWorkerSet is {_kind(programs.real_lws)}, Volcano is {_kind(programs.real_volcano)}\n")
            told = await _story(api)
    print(f"\n{time.monotonic() - started:.0f} s, everything stopped")
    return 0 if told else 1


async def _story(api: Api) -> bool:
    print("1. Apply vllm (4 groups of 2 nodes) and sglang (2 groups of 4 nodes) of deploy/examples on 16 nodes.\n")
    async with Births(api, NAMESPACE) as births:
        await _apply(api)
        full = await _until(api, lambda seen: seen.placed == sum(SERVERS.values()))
        print(full)
        print("\n2. Scale vllm to 5 groups: no node is left for the fifth.\n")
        await _scale(api, "vllm", 5)
        await _until(api, lambda seen: len(seen.created) > len(full.created))
        await asyncio.sleep(SETTLED)
        waiting = await _until(api, lambda seen: "0 of 2 pods placed" in str(seen))
        print(waiting)
        print("\n3. Take sglang away: the waiting group gets its nodes, all at once.\n")
        await api.delete(LEADER_WORKER_SETS, "sglang", NAMESPACE)
        done = await _until(api, lambda seen: seen.placed == len(seen.groups) == 5)  # noqa: PLR2004 - vllm's groups
        print(done)
    facts = {
        "every pod carried its PodGroup and task when it was created (watch stream)": births.bound,
        "six groups ran whole on 16 nodes": full.placed == len(full.running) == 6,  # noqa: PLR2004 - 4 and 2
        "each group sits in one rack": full.in_one_rack == full.running,
        "of the seventh no pod was started": waiting.held_back == ("vllm-4",) and waiting.running == full.running,
        "it ran whole as soon as there was room": done.placed == len(done.running) == 5,  # noqa: PLR2004 - 4 and 1
        "no PodGroup is left over": len(done.groups) == 5,  # noqa: PLR2004 - one a group
    }
    print("\n" + "\n".join(f"  {'yes' if holds else 'NO '}  {fact}" for fact, holds in facts.items()))
    return all(facts.values())


async def _apply_topology(api: Api) -> None:
    """Apply the topology file, and wait until Volcano can see the racks.

    Raises
    ------
    LocalError
        Not after a minute.
    """
    document = yaml.safe_load(TOPOLOGY.read_text(encoding="utf-8"))
    await api.apply(CLUSTER_TOPOLOGIES, document, "demo")
    wanted = len(document["spec"]["domains"])
    try:
        async with asyncio.timeout(PATIENCE):
            while len(await api.list(HYPER_NODES)) < wanted:
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise LocalError(f"{wanted} HyperNodes did not come; see the log of lws-volcano") from None


async def _apply(api: Api) -> None:
    for file, replicas in SERVERS.items():
        for document in yaml.safe_load_all((EXAMPLES / file).read_text(encoding="utf-8")):
            if document["kind"] == LEADER_WORKER_SETS.kind:
                document["metadata"]["namespace"] = NAMESPACE
                document["spec"]["replicas"] = replicas
                await api.create(LEADER_WORKER_SETS, document)


async def _scale(api: Api, name: str, replicas: int) -> None:
    await api.patch(LEADER_WORKER_SETS, name, {"spec": {"replicas": replicas}}, NAMESPACE)


async def _until(api: Api, wanted: Callable[[Report], bool]) -> Report:
    """The state as soon as it is as wanted, or as it is when patience ends."""
    deadline = time.monotonic() + PATIENCE
    while not wanted(seen := await read_back(api, NAMESPACE)) and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
    return seen


@contextmanager
def _step(what: str) -> Iterator[None]:
    print(f"... {what}", end="", flush=True)
    begun = time.monotonic()
    yield
    print(f"  {time.monotonic() - begun:.1f} s")


def _kind(real: Any) -> str:
    return "the real program" if real else "a stand-in (deploy/local)"


if __name__ == "__main__":
    sys.exit(main())
