"""Clusters and groups for the tests of placement, in a few words.

A cluster is written as nested mappings, outermost domains first, down to nodes and their free GPUs:
`{"s1": {"r1": {"n1": 8, "n2": 4}}}`. The level names are `rack`, `spine`, `core` from the lowest up.
"""

from collections.abc import Mapping
from typing import Any

from lws_volcano.api.cluster import Node
from lws_volcano.api.pods import Pod, PodTemplate
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand, Rules
from lws_volcano.placement.shape import Shape, template_shape
from lws_volcano.topology.build import build
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology

GPU = "example.com/gpu"
LEVELS = ("rack", "spine", "core")
Tree = Mapping[str, Any]


def node(name: str, gpus: int = 8, **extra: Any) -> Node:
    """A ready node."""
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **extra.pop("labels", {})}}
    allocatable = {GPU: gpus, "cpu": "64", "pods": 110, **extra.pop("allocatable", {})}
    return Node.parse({"metadata": metadata, "spec": extra, "status": {"allocatable": allocatable}})


def pod(name: str, node_name: str = "", gpus: int = 1, namespace: str = "ns", **metadata: Any) -> Pod:
    """A pod, bound when a node is named."""
    container = {"name": "c", "resources": {"requests": {GPU: gpus}}}
    spec = {"nodeName": node_name, "containers": [container]}
    return Pod.parse(
        {"metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", **metadata}, "spec": spec}
    )


def shape(gpus: int = 1, **spec: Any) -> Shape:
    """Shape of a pod that asks for GPUs."""
    requests = {GPU: gpus, **spec.pop("requests", {})} if gpus else spec.pop("requests", {})
    container = {"name": "c", "resources": {"requests": requests}, "ports": spec.pop("ports", [])}
    return template_shape(PodTemplate.model_validate({"spec": {"containers": [container], **spec}}))


def depth(tree: Tree) -> int:
    """Domain levels of a tree."""
    inner = next(iter(tree.values()))
    return 1 + (depth(inner) if isinstance(inner, Mapping) and _is_domain(inner) else 0)


def _is_domain(part: Any) -> bool:
    return isinstance(part, Mapping) and any(isinstance(value, Mapping) for value in part.values())


def topology(tree: Tree, levels: int | None = None) -> Topology:
    """The topology of such a tree; nodes may hang at any level."""
    count = levels or max(_height(part) for part in tree.values())
    domains: list[dict[str, Any]] = []
    for name, part in tree.items():
        _add(domains, name, part, count - 1, None)
    tiers = [{"name": name} for name in LEVELS[:count]]
    document = {
        "apiVersion": "lws-volcano.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": "test"},
        "spec": {"tiers": tiers, "domains": domains},
    }
    return build(ClusterTopology.model_validate(document))


def _height(part: Any) -> int:
    inner = [value for value in part.values() if isinstance(value, Mapping)]
    return 1 + max((_height(value) for value in inner), default=0)


def _add(domains: list[dict[str, Any]], name: str, part: Tree, level: int, parent: str | None) -> None:
    nodes = [child for child, value in part.items() if not isinstance(value, Mapping)]
    domain: dict[str, Any] = {"name": name, "tier": LEVELS[level], "nodes": nodes}
    domains.append(domain if parent is None else {**domain, "parent": parent})
    for child, value in part.items():
        if isinstance(value, Mapping):
            _add(domains, child, value, level - 1, name)


def free_gpus(tree: Tree) -> dict[str, int]:
    """Node -> GPUs."""
    found: dict[str, int] = {}
    for name, part in tree.items():
        found.update(free_gpus(part) if isinstance(part, Mapping) else {name: part})
    return found


def capacity(tree: Tree, loose: Mapping[str, int] | None = None, levels: int | None = None) -> Capacity:
    """Capacity of an empty cluster: the tree's nodes, and some without a domain."""
    made = Capacity(topology(tree, levels) if tree else None)
    nodes = {**free_gpus(tree), **(loose or {})}
    return made.feed(node(name, gpus) for name, gpus in nodes.items())


def group(size: int, worker: Shape | None = None, leader: Shape | None = None, **extra: Any) -> Demand:
    """A demand; rules are given by name."""
    rules = {name: extra.pop(name) for name in list(extra) if name in Rules.__dataclass_fields__}
    worker = worker or shape()
    name = extra.pop("name", "demo")
    return Demand(
        key=f"ns/{name}",
        size=size,
        leader=leader or worker,
        worker=worker,
        rules=Rules(**rules),
        namespace="ns",
        lws=name,
        pod_group=name,
        **extra,
    )
