"""Node objects from counts and from topology files. Leaves out: creating them (`tests/integration`)."""

from pathlib import Path

import pytest

from deploy.local.errors import LocalError
from deploy.local.nodes import nodes_from_topology, rack_nodes

TOPOLOGY = """
kind: ClusterTopology
spec:
  tiers: [{name: rack}, {name: spine}]
  domains:
    - {name: spine-1, tier: spine}
    - {name: rack-1, tier: rack, parent: spine-1, nodes: ["gpu-[01-03]", "odd"]}
    - {name: rack-2, tier: rack, parent: spine-1, nodes: ["r[1-2]-n[8-9]"]}
"""


def test_racks_and_spines_are_filled_in_order() -> None:
    """Nodes 0 to 3 in rack 0, and so on; names are of one width."""
    nodes = rack_nodes(20, per_rack=4, racks_per_spine=2)
    labels = [node["metadata"]["labels"] for node in nodes]
    assert [node["metadata"]["name"] for node in (nodes[0], nodes[19])] == ["node-00", "node-19"]
    assert [labels[place]["example.com/rack"] for place in (3, 4, 19)] == ["rack-0", "rack-1", "rack-4"]
    assert [labels[place]["example.com/spine"] for place in (7, 8, 19)] == ["spine-0", "spine-1", "spine-2"]


def test_a_topology_file_names_nodes_and_their_domains(tmp_path: Path) -> None:
    """Ranges keep their leading zeros; each node has the labels of all domains above it."""
    file = tmp_path / "topology.yaml"
    file.write_text(TOPOLOGY)
    labels = {node["metadata"]["name"]: node["metadata"]["labels"] for node in nodes_from_topology(file)}
    assert sorted(labels) == ["gpu-01", "gpu-02", "gpu-03", "odd", "r1-n8", "r1-n9", "r2-n8", "r2-n9"]
    assert labels["r2-n9"]["example.com/rack"] == "rack-2"
    assert labels["odd"]["example.com/spine"] == "spine-1"


@pytest.mark.parametrize("text", ["", "kind: Node", "kind: ClusterTopology\nspec: {}", "a: ["])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    """The message names the file."""
    file = tmp_path / "other.yaml"
    file.write_text(text)
    with pytest.raises(LocalError, match=r"other\.yaml"):
        nodes_from_topology(file)
