"""Nodes for KWOK: so many racks of so many nodes, or those that a topology file names."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.local.api import Api, Object
from deploy.local.errors import LocalError
from deploy.local.resources import NODES
from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.file import parse_topologies
from lws_volcano.topology.load import build_all
from lws_volcano.topology.model import Topology

__all__ = ["RACK", "SPINE", "NodeShape", "create_nodes", "nodes_from_topology", "rack_nodes", "wait_ready"]

RACK: Final = "example.com/rack"
SPINE: Final = "example.com/spine"
SIMULATED: Final = "lws-volcano-local"
"""Kubelet version that `stages.yaml` writes into nodes."""
READY_TIMEOUT: Final = 60.0
BATCH: Final = 50


@dataclass(frozen=True)
class NodeShape:
    """What one node offers; the default is a machine of eight GPUs."""

    allocatable: Mapping[str, str] = field(
        default_factory=lambda: {"cpu": "64", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110"}
    )
    taints: tuple[Mapping[str, str], ...] = ()


def node(name: str, labels: Mapping[str, str], shape: NodeShape) -> Object:
    """One Node object."""
    room = dict(shape.allocatable)
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "simulated"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {"taints": [dict(taint) for taint in shape.taints]},
        "status": {"allocatable": room, "capacity": room, "conditions": [ready]},
    }


def rack_nodes(
    count: int, *, per_rack: int = 4, racks_per_spine: int = 4, shape: NodeShape | None = None, prefix: str = "node"
) -> list[Object]:
    """`count` nodes, filled into racks and spines in order and labelled with both."""
    shape = shape or NodeShape()
    width = max(2, len(str(count - 1)))
    return [
        node(
            f"{prefix}-{place:0{width}}",
            {RACK: f"rack-{place // per_rack}", SPINE: f"spine-{place // (per_rack * racks_per_spine)}"},
            shape,
        )
        for place in range(count)
    ]


def nodes_from_topology(file: Path, shape: NodeShape | None = None) -> list[Object]:
    """The nodes that a ClusterTopology file names under `domains`, labelled with the domains above them.

    A domain with a nodeSelector gets nothing: it names no node.

    Raises
    ------
    LocalError
        The file is no ClusterTopology with domains.
    """
    shape = shape or NodeShape()
    try:
        topology = build_all(parse_topologies(file.read_bytes(), str(file)))
    except (OSError, TopologyError) as error:
        raise LocalError(f"{file}: {error}") from error
    if not topology.nodes:
        raise LocalError(f"{file}: no ClusterTopology with domains that name nodes")
    return [node(name, _labels(topology, place), shape) for name, place in sorted(topology.place_of.items())]


async def create_nodes(api: Api, nodes: Iterable[Object], *, wait: bool = True) -> list[str]:
    """Create nodes (those that exist stay), by default waiting until all are Ready; gives their names."""
    listed = list(nodes)
    for start in range(0, len(listed), BATCH):
        await asyncio.gather(*(api.ensure(NODES, one) for one in listed[start : start + BATCH]))
    names = [one["metadata"]["name"] for one in listed]
    if wait:
        await wait_ready(api, names)
    return names


async def wait_ready(api: Api, names: Iterable[str]) -> None:
    """Wait until the nodes are Ready and free of the taint of new ones.

    Raises
    ------
    LocalError
        They are not, after a minute; the message names some.
    """
    waiting = set(names)
    try:
        async with asyncio.timeout(READY_TIMEOUT):
            while waiting:
                waiting -= {one["metadata"]["name"] for one in await api.list(NODES) if _usable(one)}
                await asyncio.sleep(0.1 if waiting else 0)
    except TimeoutError:
        some = ", ".join(sorted(waiting)[:5])
        raise LocalError(f"{len(waiting)} nodes did not become Ready, among them {some}; is KWOK running?") from None


def _usable(one: Object) -> bool:
    status = one.get("status", {})
    if status.get("nodeInfo", {}).get("kubeletVersion") != SIMULATED:
        return False  # KWOK has not seen it yet, and would still set it Ready
    conditions = status.get("conditions", ())
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    taints = one["spec"].get("taints", ())
    return ready and not any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)


def _labels(topology: Topology, place: int) -> dict[str, str]:
    domains = [topology.domains[index] for index in topology.ancestors(topology.domain_of[place])]
    return {f"example.com/{domain.tier_name}": domain.name for domain in domains}
