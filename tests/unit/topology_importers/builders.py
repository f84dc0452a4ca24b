"""Sources from text or from the files in `data`, and what an imported document says, as sets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lws_volcano.topology.build import build
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.registry import import_topology
from lws_volcano.topology.importers.source import Source, decode
from lws_volcano.topology.model import Topology

DATA: Final = Path(__file__).parent / "data"
CASES: Final = Path(__file__).parents[3].parent / "shared" / "cases" / "topologies"

EXAMPLES: Final = (
    ("slurm-conf", "tree.conf"),
    ("slurm-conf", "block.conf"),
    ("slurm-yaml", "topologies.yaml"),
    ("topograph-graph", "graph.json"),
    ("topograph-model", "model.yaml"),
    ("topograph-model", "model-old.yaml"),
    ("node-labels", "aws.yaml"),
    ("node-labels", "gke.yaml"),
    ("node-labels", "oci.yaml"),
    ("node-labels", "coreweave.yaml"),
    ("node-labels", "clique.yaml"),
    ("node-labels", "topograph-nodes.yaml"),
    ("node-labels", "topograph-old-nodes.yaml"),
    ("ibnetdiscover", "fabric.ibnet"),
    ("lldp", "neighbours.json"),
    ("hypernodes", "hypernodes.yaml"),
    ("kueue", "kueue.yaml"),
    ("kai", "kai.yaml"),
    ("grove", "grove.yaml"),
)
"""Every format with a sound file of it."""


def source(text: str, **options: object) -> Source:
    """A source with this text, called `input`."""
    return Source("input", text, **options)  # type: ignore[arg-type]


def from_file(path: Path, **options: object) -> Source:
    """The source of a file, as the command line makes it."""
    return Source(path.name, decode(path.read_bytes(), path.name), **options)  # type: ignore[arg-type]


def nodes(*names: str, **labelled: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
    """Nodes of a cluster: some by name only, some with labels."""
    return {**{name: {} for name in names}, **labelled}


def imported(form: str, text: str, **options: object) -> tuple[Topology, list[str]]:
    """The topology that a text stands for, and what was said about it."""
    return built(import_topology(form, source(text, **options)))


def built(found: Imported) -> tuple[Topology, list[str]]:
    """The topology of an imported document, and what was said about it."""
    return build(found.document), [str(finding) for finding in found.findings]


def domains(topology: Topology) -> dict[int, set[frozenset[str]]]:
    """Node sets by tier."""
    found: dict[int, set[frozenset[str]]] = {}
    for index, domain in enumerate(topology.domains):
        found.setdefault(domain.tier, set()).add(frozenset(topology.members(index)))
    return found


def meeting_tier(topology: Topology, one: str, other: str) -> int | None:
    """Tier where two nodes meet, none across trees."""
    index = topology.meeting(topology.place_of[one], topology.place_of[other])
    return topology.domains[index].tier if index >= 0 else None


def sets(*groups: str) -> set[frozenset[str]]:
    """Node sets, each written with blanks between the names."""
    return {frozenset(group.split()) for group in groups}
