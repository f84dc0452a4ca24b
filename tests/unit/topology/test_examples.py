"""The example topology files: each is valid without a warning that is not meant, and shows what it says."""

from pathlib import Path

import pytest

from lws_volcano.api.cluster import Node
from lws_volcano.topology.file import parse_topologies
from lws_volcano.topology.hypernodes import desired_hypernodes
from lws_volcano.topology.load import build_all
from lws_volcano.topology.model import Topology
from tests.unit.topology.builders import sets

FOLDER = Path(__file__).resolve().parents[3] / "topology"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))


def example(name: str, nodes: list[Node] | None = None) -> Topology:
    """The topology of an example."""
    return build_all(parse_topologies((FOLDER / name).read_bytes(), name), nodes)


def test_all_are_listed_in_the_readme() -> None:
    """Files and table agree."""
    readme = (FOLDER / "README.md").read_text()
    assert [name for name in FILES if f"`{name}`" not in readme] == []
    assert len(FILES) >= 7


@pytest.mark.parametrize(
    ("name", "nodes", "tiers", "trees"),
    [
        ("two-racks.yaml", 16, 2, 1), ("fat-tree-8-rails.yaml", 64, 3, 1), ("superpod-unit.yaml", 128, 3, 1),
        ("nvl72.yaml", 144, 3, 1), ("uneven-site.yaml", 27, 4, 2),
    ],
)  # fmt: skip
def test_examples_with_domains(name: str, nodes: int, tiers: int, trees: int) -> None:
    """Sizes as described, HyperNodes for all."""
    topology = example(name)
    assert (len(topology.nodes), len(topology.tiers), len(topology.roots)) == (nodes, tiers, trees)
    assert desired_hypernodes(topology)
    assert [str(f) for f in topology.warnings if "edge-2" not in str(f)] == []


def labelled(*rows: tuple[str, dict[str, str]]) -> list[Node]:
    """Nodes with labels."""
    return [Node.parse({"kind": "Node", "metadata": {"name": name, "labels": labels}}) for name, labels in rows]


def test_aws_labels() -> None:
    """Layer 4 is closest; a node without it is attached at layer 3."""
    layers = "topology.k8s.aws/network-node-layer-{}"

    def node(name: str, *values: str) -> tuple[str, dict[str, str]]:
        return name, {layers.format(at): value for at, value in enumerate(values, start=1)}

    cluster = labelled(
        node("a", "nn-1", "nn-2", "nn-3", "nn-4"),
        node("b", "nn-1", "nn-2", "nn-3", "nn-4"),
        node("c", "nn-1", "nn-2", "nn-3"),
    )
    topology = example("aws-labels.yaml", cluster)
    assert sets(topology, 1) == [{"a", "b"}]
    assert sets(topology, 2) == [{"a", "b", "c"}]


def test_gke_labels() -> None:
    """Hosts in sub-blocks in blocks."""
    key = "cloud.google.com/gce-topology-"
    cluster = labelled(
        *(
            (name, {f"{key}block": "b", f"{key}subblock": sub, f"{key}host": name})
            for name, sub in [("a", "1"), ("c", "1"), ("d", "2")]
        )
    )
    topology = example("gke-labels.yaml", cluster)
    assert sets(topology, 2) == [{"a", "c"}, {"d"}]
    assert sets(topology, 3) == [{"a", "c", "d"}]
