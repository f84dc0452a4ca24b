"""Levels of labels, closest first, to placed domains.

What a label that is missing or says nothing means, and how domains are named by their path, is decided in
`topology.labels`; this builds that topology once and writes down what came out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lws_volcano.api.cluster import Node
from lws_volcano.api.meta import Metadata
from lws_volcano.topology.build import build
from lws_volcano.topology.findings import Origin
from lws_volcano.topology.importers.document import Imported, Placed, Tiers, object_name, topology_document
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels
from lws_volcano.topology.schema import ClusterTopology, LevelSpec, TierSpec, TopologyMetadata, TopologySpec

__all__ = ["Level", "label_rules", "labelled", "tier_names"]


@dataclass(frozen=True, slots=True)
class Level:
    """A label key and the name of its tier."""

    key: str
    tier: str


def tier_names(keys: Sequence[str]) -> list[Level]:
    """Levels of these keys, each tier named by the last part of its key where that is enough to tell them apart."""
    short = [key.rpartition("/")[2] for key in keys]
    return [Level(key, name if short.count(name) == 1 else key) for key, name in zip(keys, short, strict=True)]


def label_rules(name: str, levels: Sequence[Level]) -> ClusterTopology:
    """A document that derives its domains from these labels, whatever nodes there are."""
    return ClusterTopology(
        metadata=TopologyMetadata(name=object_name(name)),
        spec=TopologySpec(
            tiers=tuple(TierSpec(name=level.tier) for level in levels),
            node_labels=tuple(LevelSpec(tier=level.tier, key=level.key) for level in levels),
        ),
    )


def labelled(name: str, levels: Sequence[Level], nodes: NodeLabels, where: str, notes: Notes) -> Imported:
    """The document of these nodes with their domains spelt out."""
    domains = _domains(label_rules(name, levels), nodes, where, notes)
    numbered = dict(enumerate((TierSpec(name=level.tier) for level in levels), start=1))
    document = topology_document(name, domains, notes, lambda numbers: _only(numbered, numbers), fold=False)
    return Imported(document, notes.settle())


def _only(tiers: Tiers, numbers: Iterable[int]) -> Mapping[int, TierSpec]:
    return {number: tiers[number] for number in set(numbers)}


def _domains(rules: ClusterTopology, nodes: NodeLabels, where: str, notes: Notes) -> list[Placed]:
    found = build(rules, [_node(name, labels) for name, labels in nodes.items()], origin=Origin(where))
    notes.findings.extend(replace(finding, where=where) for finding in found.warnings)
    return [
        Placed(
            domain.name,
            domain.tier,
            found.domains[domain.parent].name if domain.parent >= 0 else None,
            tuple(found.nodes[place] for place in found.attached[index]),
        )
        for index, domain in enumerate(found.domains)
    ]


def _node(name: str, labels: Mapping[str, str]) -> Node:
    return Node(metadata=Metadata(name=name, labels=labels))
