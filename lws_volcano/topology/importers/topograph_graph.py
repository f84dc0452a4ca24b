"""Topograph's graph engine: instances with their switches, closest first, as JSON.

Source: topograph docs/engines/graph.md. Instances carry the name that the cloud gives the machine; nodes of the cluster
are found by it where they say it (`topograph.run/instance`, or the end of their provider id).
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.hosts import plain_name
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.switches import Switch
from lws_volcano.topology.importers.topograph import DOMAINS, SUB_DOMAINS, accelerator, imported
from lws_volcano.topology.importers.yaml_text import json_values, mapping, sequence, text_of

__all__ = ["read"]


@dataclass(slots=True)
class _Graph:
    notes: Notes
    nodes: dict[str, list[str]] = field(default_factory=dict)
    children: dict[str, dict[str, None]] = field(default_factory=dict)
    domains: dict[str, list[str]] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    loose: list[str] = field(default_factory=list)


def read(source: Source) -> Imported:
    """The document of a graph.

    Raises
    ------
    TopologyError
        Not the output of the graph engine, or switches that are no tree.
    """
    graph = _Graph(Notes(source.keep_going))
    for number, raw in enumerate(_instances(source)):
        _take(mapping(raw, f"{source.name}: instances[{number}]"), f"{source.name}: instances[{number}]", graph, source)
    if graph.loose:
        graph.notes.warn(f"{len(graph.loose)} instances have no network_layers: {examples(graph.loose)}", source.name)
    names = dict.fromkeys([*graph.nodes, *graph.children])
    switches = [
        Switch(name, f"switch {name}", tuple(graph.nodes.get(name, ())), tuple(graph.children.get(name, ())))
        for name in names
    ]
    return imported(source.topology_name or "topograph", switches, (graph.domains, graph.parts), source, graph.notes)


def _instances(source: Source) -> Sequence[Any]:
    values = json_values(source)
    if len(values) != 1:
        raise TopologyError(f"{len(values)} JSON values", source.name, "give the output of topograph's graph engine")
    if isinstance(values[0], list):
        return values[0]
    found = mapping(values[0], source.name)
    if "instances" not in found:
        raise TopologyError("has no `instances`", source.name, "give the output of topograph's graph engine")
    return sequence(found["instances"], f"{source.name}: instances")


def _take(instance: Mapping[str, Any], where: str, graph: _Graph, source: Source) -> None:
    if "id" not in instance:
        graph.notes.error("an instance without an id", where, "give it one")
        return
    identity = text_of(instance["id"], where)
    node = source.instances.get(identity, identity)
    layers = [text_of(layer, where) for layer in sequence(instance.get("network_layers"), where) if layer]
    if not all(plain_name(name) for name in (node, *layers)):
        graph.notes.error(f"instance {identity[:60]!r} has a name with blanks, commas or brackets", where, "correct it")
        return
    if identity in graph.seen:
        graph.notes.error(f"instance {identity} is there twice", where, "keep one of them")
        return
    graph.seen.add(identity)
    _place(node, layers, graph)
    labels = {key: str(value) for key, value in mapping(instance.get("labels"), where).items()}
    domain, part = accelerator(labels, DOMAINS), accelerator(labels, SUB_DOMAINS)
    if domain:
        graph.domains.setdefault(domain, []).append(node)
    if domain and part:
        graph.parts.setdefault(part, []).append(node)


def _place(node: str, layers: Sequence[str], graph: _Graph) -> None:
    layers = list(dict.fromkeys(layers))
    if not layers:
        graph.loose.append(node)
        return
    graph.nodes.setdefault(layers[0], []).append(node)
    for below, above in itertools.pairwise(layers):
        graph.children.setdefault(above, {})[below] = None
        graph.children.setdefault(below, {})
