"""Nodes of a cluster from a file: Node documents, or plain names as `kubectl get nodes -o name` prints them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.hostlist import expand
from lws_volcano.topology.importers.source import NodeLabels, Source
from lws_volcano.topology.importers.yaml_text import documents, mapping, text_of

__all__ = ["NodeList", "node_list", "nodes_among", "without_values"]

_PLAIN: Final = re.compile(r"\s*(?:#.*|(?:node/)?[A-Za-z0-9][^\s:{}\"']*\s*)?")
_INSTANCE: Final = "topograph.run/instance"


@dataclass(slots=True)
class NodeList:
    """Labels by node, and the node by what a cloud calls its machine."""

    labels: dict[str, Mapping[str, str]] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)


def node_list(source: Source) -> NodeList:
    """Nodes of a file that holds nothing else.

    Raises
    ------
    TopologyError
        It holds no nodes, or is neither Node documents nor names.
    """
    lines = source.text.split("\n")
    if all(_PLAIN.fullmatch(line) for line in lines):
        names = [
            line.strip().removeprefix("node/") for line in lines if line.strip() and not line.lstrip().startswith("#")
        ]
        found = NodeList({host: {} for name in names for host in expand(name)})
    else:
        found = nodes_among(documents(source), source.name)
    if not found.labels:
        raise TopologyError("holds no nodes", source.name, "give `kubectl get nodes -o json`")
    return found


def without_values(nodes: NodeLabels, ignore: frozenset[str]) -> NodeLabels:
    """Nodes without the labels whose value is a switch to ignore."""
    if not ignore:
        return nodes
    return {
        name: {key: value for key, value in labels.items() if value not in ignore} for name, labels in nodes.items()
    }


def nodes_among(values: Iterable[Any], where: str) -> NodeList:
    """The nodes among these objects; others are passed over.

    Raises
    ------
    TopologyError
        A Node whose name or labels can't be read, or two of one name.
    """
    found = NodeList()
    for value in values:
        if isinstance(value, dict) and value.get("kind") == "Node":
            _take(value, where, found)
    return found


def _take(raw: Mapping[str, Any], where: str, found: NodeList) -> None:
    metadata = mapping(raw.get("metadata"), f"{where}: Node")
    name = text_of(metadata.get("name"), f"{where}: Node metadata.name")
    place = f"{where}: Node {name}"
    if name in found.labels:
        raise TopologyError(f"node {name} is there twice", where, "give each node once")
    labels = mapping(metadata.get("labels"), f"{place} labels")
    found.labels[name] = {key: _label(value, f"{place} label {key}") for key, value in labels.items()}
    annotations = mapping(metadata.get("annotations"), f"{place} annotations")
    provider = mapping(raw.get("spec"), f"{place} spec").get("providerID")
    for instance in (labels.get(_INSTANCE), annotations.get(_INSTANCE), str(provider or "").rpartition("/")[2]):
        if isinstance(instance, str) and instance:
            found.instances.setdefault(instance, name)


def _label(value: Any, where: str) -> str:
    return "" if value is None else text_of(value, where)
