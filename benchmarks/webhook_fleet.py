"""A cluster for the webhook to plan on: racks of 16 nodes, 10 racks a spine, ten bound pods a node."""

from typing import Final

from lws_volcano.api.cluster import Node
from lws_volcano.api.pods import Pod
from lws_volcano.placement.capacity import Capacity
from lws_volcano.topology.build import build
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology

__all__ = ["fleet"]

RACK: Final = 16
SPINE: Final = 10
BOUND: Final = 10
"""Pods on every node; on six nodes of ten, one of them takes all GPUs."""
FULL: Final = 6
ALLOCATABLE: Final = {"cpu": "192", "memory": "2Ti", "nvidia.com/gpu": "8", "pods": "110"}


def fleet(nodes: int) -> Capacity:
    """What is free on so many nodes, along their topology."""
    capacity = Capacity(_topology(nodes))
    for number in range(nodes):
        capacity.upsert_node(Node.parse({"metadata": {"name": _name(number)}, "status": {"allocatable": ALLOCATABLE}}))
        for rank in range(BOUND):
            capacity.bind(_bound(number, rank))
    return capacity


def _name(number: int) -> str:
    return f"n{number:05d}"


def _topology(nodes: int) -> Topology:
    racks = -(-nodes // RACK)
    domains: list[dict[str, object]] = [{"name": f"s{spine}", "tier": "spine"} for spine in range(-(-racks // SPINE))]
    for rack in range(racks):
        members = [_name(number) for number in range(rack * RACK, min((rack + 1) * RACK, nodes))]
        domains.append({"name": f"r{rack}", "tier": "rack", "parent": f"s{rack // SPINE}", "nodes": members})
    spec = {"tiers": [{"name": "rack", "bandwidth": "50GB/s"}, {"name": "spine", "bandwidth": "25GB/s"}]}
    document = {"apiVersion": "lws-volcano.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "bench"}}
    return build(ClusterTopology.model_validate({**document, "spec": {**spec, "domains": domains}}))


def _bound(number: int, rank: int) -> Pod:
    gpus = {"nvidia.com/gpu": "8"} if rank == 0 and number % 10 < FULL else {}
    container = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "4Gi", **gpus}}}
    name = f"bound-{number}-{rank}"
    spec = {"nodeName": _name(number), "containers": [container]}
    return Pod.parse({"metadata": {"namespace": "others", "name": name, "uid": name}, "spec": spec})
