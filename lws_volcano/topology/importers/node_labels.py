"""Topology from the labels of nodes: the keys that are given, or those of a known cloud."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.known_labels import ACCELERATORS, CLIQUE, CLUSTER, HOSTS, SCHEMES, Scheme
from lws_volcano.topology.importers.levels import labelled, tier_names
from lws_volcano.topology.importers.nesting import nest, speaking
from lws_volcano.topology.importers.nodes import nodes_among, without_values
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels, Source
from lws_volcano.topology.importers.yaml_text import documents

__all__ = ["from_keys", "read"]

_GIVE_LEVELS: Final = "name the labels with --level KEY, closest first"


def read(source: Source) -> Imported:
    """The document of labelled nodes.

    Raises
    ------
    TopologyError
        No nodes, or none with labels that are known.
    """
    nodes: NodeLabels = {**nodes_among(documents(source), source.name).labels, **(source.nodes or {})}
    if not nodes:
        raise TopologyError("holds no Node", source.name, "give `kubectl get nodes -o json`")
    nodes = without_values(nodes, source.ignore)
    notes = Notes(source.keep_going)
    name = source.topology_name or "nodes"
    if source.levels:
        return from_keys(source.levels, nodes, name, source.name, notes)
    scheme = _scheme(nodes, source.name, notes)
    if scheme is not None and scheme.deepest_is_closest:
        nodes = _filled(nodes, scheme.keys, notes)
    keys = list(scheme.keys) if scheme is not None else []
    return from_keys(keys, nodes, name, source.name, notes, accelerators=True)


def from_keys(
    keys: Sequence[str], nodes: NodeLabels, name: str, where: str, notes: Notes, *, accelerators: bool = False
) -> Imported:
    """The document of nodes with these labels, closest first; levels that are the node itself are left out.

    Raises
    ------
    TopologyError
        No node has any of the labels.
    """
    used = [key for key in keys if _counts(key, nodes)]
    if not accelerators and not used:
        raise TopologyError(f"no node has a label {' or '.join(keys[:8])}", where, "check the keys, closest first")
    dropped = [key for key in keys if key not in used]
    if dropped and not accelerators:
        notes.warn(f"no tier comes of {examples(dropped)}: no node has it, or it is the node itself", where)
    if accelerators:
        nodes = {name: _split_clique(labels) for name, labels in nodes.items()}
        for key in ACCELERATORS:
            used = nest(used, key, nodes, notes) if _counts(key, nodes) else used
    if not used:
        raise TopologyError("every level is the node itself", where, _GIVE_LEVELS)
    return labelled(name, tier_names(used), nodes, where, notes)


def _counts(key: str, nodes: NodeLabels) -> bool:
    """Some node has a value, and the level is not just another name of the node."""
    values = [labels[key] for labels in nodes.values() if speaking(labels.get(key))]
    return bool(values) and key != "kubernetes.io/hostname" and not (key in HOSTS and len(set(values)) == len(values))


def _scheme(nodes: NodeLabels, where: str, notes: Notes) -> Scheme | None:
    """The family of fabric labels that most nodes have."""
    counts = {scheme.name: _having(scheme.keys, nodes) for scheme in SCHEMES}
    known = {scheme.name: scheme for scheme in SCHEMES}
    best = max(counts, key=lambda name: counts[name])
    if counts[best] == 0:
        if _having(ACCELERATORS, nodes) == 0:
            raise TopologyError("no node has topology labels that are known", where, _GIVE_LEVELS)
        return None
    beside = {scheme.name: _having(set(scheme.keys) - set(known[best].keys), nodes) for scheme in SCHEMES}
    others = [f"{name} ({count} nodes)" for name, count in beside.items() if count and name != best]
    if others:
        notes.warn(
            f"read the labels of {best} ({counts[best]} nodes), not those of {', '.join(others)}", where, _GIVE_LEVELS
        )
    return known[best]


def _having(keys: Iterable[str], nodes: NodeLabels) -> int:
    keys = tuple(keys)
    return sum(any(speaking(labels.get(key)) for key in keys) for labels in nodes.values())


def _filled(nodes: NodeLabels, keys: Sequence[str], notes: Notes) -> dict[str, Mapping[str, str]]:
    """Levels below the deepest one that a node has repeat it: the node's closest switch is on the closest tier."""
    used = [key for key in keys if _counts(key, nodes)]
    filled = {name: _down(labels, used) for name, labels in nodes.items()}
    short = [name for name, labels in filled.items() if labels is not nodes[name]]
    if short:
        notes.warn(
            f"{len(short)} nodes have fewer levels than others ({examples(short)}): their deepest one is their tier 1"
        )
    return filled


def _down(labels: Mapping[str, str], keys: Sequence[str]) -> Mapping[str, str]:
    deepest = next((at for at, key in enumerate(keys) if speaking(labels.get(key))), 0)
    return {**labels, **dict.fromkeys(keys[:deepest], labels[keys[deepest]])} if deepest else labels


def _split_clique(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Labels with the cluster half of the clique beside it; the all-zero cluster stands for no NVLink between nodes."""
    clique = labels.get(CLIQUE, "")
    cluster, _, _ = clique.rpartition(".")
    rest = {key: value for key, value in labels.items() if key not in (CLIQUE, CLUSTER)}
    if not clique.strip("0-."):
        return rest
    return {**rest, CLIQUE: clique, **({CLUSTER: cluster} if cluster else {})}
