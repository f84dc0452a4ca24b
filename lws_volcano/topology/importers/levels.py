"""Levels of labels, closest first, to placed domains.

What a label that is missing or says nothing means, and how domains are named by their path, is decided in
`topology.labels`; this builds that topology once and writes down what came out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lws_volcano.api.cluster import Node
from lws_volcano.api.meta import Metadata
from lws_volcano.topology.build import build
from lws_volcano.topology.findings import Origin
from lws_volcano.topology.importers.document import Imported, Placed, Tiers, object_name, topology_document
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels
from lws_volcano.topology.schema import ClusterTopology, LevelSpec, TierSpec, TopologyMetadata, TopologySpec

__all__ = ["Level", "label_rules", "labelled", "tier_names"]


_SAYS_LITTLE: Final = re.compile(r"(?:tier|level|layer)-?[0-9]*|(?:sub-?)?domain")
"""Names that could be any tier; `tier-0` for what is our tier 1 would mislead."""


@dataclass(frozen=True, slots=True)
class Level:
    """A label key and the name of its tier."""

    key: str
    tier: str


def tier_names(keys: Sequence[str]) -> list[Level]:
    """Levels of these keys, each tier named by the last part of its key where that is enough to tell them apart.

    Examples
    --------
    >>> [level.tier for level in tier_names(["example.com/rack", "fabric.example.com/tier-1"])]
    ['rack', 'fabric-tier-1']
    """
    short = [_short(key) for key in keys]
    return [Level(key, name if short.count(name) == 1 else key) for key, name in zip(keys, short, strict=True)]


def _short(key: str) -> str:
    prefix, _, name = key.rpartition("/")
    return f"{prefix.partition('.')[0]}-{name}" if _SAYS_LITTLE.fullmatch(name) and prefix else name


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
