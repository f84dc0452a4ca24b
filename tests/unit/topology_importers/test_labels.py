"""Topologies from labels: given keys, known clouds, level lists of Kueue, KAI and Grove.

Leaves out how domains are named and gaps are reported in general (`tests/unit/topology`).
"""

import json

import pytest

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.importers.registry import import_topology
from tests.unit.topology_importers.builders import DATA, domains, imported, meeting_tier, sets, source


def node_file(**labels: dict[str, str]) -> str:
    """A Node list."""
    items = [
        {"kind": "Node", "metadata": {"name": name.replace("_", "-"), "labels": own}} for name, own in labels.items()
    ]
    return json.dumps({"kind": "List", "items": items})


@pytest.mark.parametrize(
    ("name", "tiers"),
    [
        ("aws.yaml", ["network-node-layer-3", "network-node-layer-2", "network-node-layer-1"]),
        ("gke.yaml", ["gce-topology-subblock", "gce-topology-block"]),
        ("oci.yaml", ["rdma.local_block_id", "rdma.network_block_id", "rdma.hpc_island_id"]),
        ("coreweave.yaml", ["leafgroup", "superpod", "fabric"]),
        ("clique.yaml", ["gpu.clique", "gpu.cluster"]),
        ("topograph-nodes.yaml", ["accelerator-domain", "fabric-tier-0", "fabric-tier-1"]),
        ("topograph-old-nodes.yaml", ["leaf", "spine", "core"]),
    ],
)
def test_clouds_are_known_by_themselves(name: str, tiers: list[str]) -> None:
    """Closest first, without levels that are the node itself or repeat another one."""
    topology, _ = imported("node-labels", (DATA / name).read_text())
    assert [tier.name for tier in topology.tiers] == tiers
    assert all(len(group) == 2 for group in list(domains(topology)[1])[:2]) or tiers[0] == "leaf"


def test_given_keys_closest_first() -> None:
    """Whatever the labels are called."""
    text = node_file(a={"r": "1", "s": "x"}, b={"r": "1", "s": "y"}, c={"r": "2", "s": "x"}, d={"r": "1", "s": "x"})
    topology, _ = imported("node-labels", text, levels=("r", "s"))
    assert domains(topology) == {1: sets("a d", "b", "c"), 2: sets("a c d", "b")}


def test_keys_that_give_no_tier_are_told() -> None:
    """A slip in one of two keys does not pass in silence."""
    topology, said = imported("node-labels", node_file(a={"r": "1"}, b={"r": "1"}), levels=("r", "row"))
    assert len(topology.tiers) == 1
    assert "no tier comes of row" in said[0]


def test_no_information_is_no_domain() -> None:
    """Missing, empty and unknown are not three nodes in one rack (reports, R06)."""
    text = node_file(
        n1={"rack": "r1"}, n2={"rack": "r1"}, n3={}, n4={"rack": ""}, n5={"rack": "unknown"}, n6={"rack": "unknown"}
    )
    topology, said = imported("node-labels", text, levels=("rack",))
    assert domains(topology) == {1: sets("n1 n2")}
    assert {name for name in ("n3", "n4", "n5", "n6") if name in " ".join(said)} == {"n3", "n4", "n5", "n6"}


def test_the_all_zero_cluster_is_no_clique() -> None:
    """Machines without NVLink between them carry it."""
    topology, _ = imported("node-labels", (DATA / "clique.yaml").read_text())
    assert "cpu-0" not in topology.place_of
    assert meeting_tier(topology, "gb-1", "gb-2") == 2


def test_accelerators_that_cut_across_the_fabric_are_left_out() -> None:
    """Half of each leaf in a domain that spans both."""
    leaf, nvl = "fabric.topograph.run/tier-0", "accelerator.topograph.run/domain"
    own = {f"n{at}": {leaf: f"l{at // 2}", nvl: f"d{at % 2}"} for at in range(4)}
    topology, said = imported("node-labels", node_file(**own))
    assert domains(topology) == {1: sets("n0 n1", "n2 n3")}
    assert any("cut across" in finding for finding in said)


def test_accelerators_may_span_leaves() -> None:
    """An NVLink domain of two leaves stands between leaf and spine."""
    leaf, spine, nvl = "fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1", "accelerator.topograph.run/domain"
    own = {f"n{at}": {leaf: f"l{at // 2}", spine: "s", nvl: f"d{at // 4}"} for at in range(8)}
    topology, _ = imported("node-labels", node_file(**own))
    assert [tier.name for tier in topology.tiers] == ["fabric-tier-0", "accelerator-domain", "fabric-tier-1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (node_file(a={"x": "y"}), "--level KEY"),
        (json.dumps({"kind": "Pod", "metadata": {"name": "a"}}), "holds no Node"),
        (json.dumps([1, 2]), "holds no Node"),
        (json.dumps({"kind": "Node", "metadata": {"name": "a", "labels": {"x": [1]}}}), "expected a name"),
    ],
)
def test_what_has_no_labels_is_refused(text: str, words: str) -> None:
    """With the way out."""
    with pytest.raises(TopologyError, match=words):
        import_topology("node-labels", source(text))


@pytest.mark.parametrize(
    ("form", "tiers"), [("kueue", ["rack", "block"]), ("kai", ["rack", "block"]), ("grove", ["rack", "block"])]
)
def test_level_lists_run_broadest_first(form: str, tiers: list[str]) -> None:
    """The host is no domain, equal racks of two blocks are two."""
    topology, said = imported(form, (DATA / f"{form}.yaml").read_text())
    assert [tier.name for tier in topology.tiers] == tiers
    assert domains(topology)[1] == sets("n0 n1", "n2 n3", "n4 n5", "n6 n7")
    assert said == []


def test_a_level_list_without_nodes_is_a_rule() -> None:
    """The labels are written as they are, for whatever nodes there will be."""
    text = (DATA / "kueue.yaml").read_text().partition("---")[0]
    found = import_topology("kueue", source(text))
    assert [(level.tier, level.key) for level in found.document.spec.node_labels] == [
        ("rack", "example.com/rack"),
        ("block", "example.com/block"),
    ]
    assert "--nodes" in str(found.findings[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("kueue.x-k8s.io", "kai.scheduler"), "holds no Topology"),
        (("nodeLabel: example.com/block", "label: example.com/block"), "without `nodeLabel`"),
        (("nodeLabel: example.com/block", "nodeLabel: example.com/rack"), "a level twice"),
        (("nodeLabel: example.com/block", "nodeLabel: kubernetes.io/hostname"), "not the last level"),
        (("example.com/", "example.org/"), "no node has a label"),
    ],
)
def test_level_lists_that_can_not_be_read(change: tuple[str, str], words: str) -> None:
    """Wrong project, wrong field, wrong order, other nodes."""
    head, _, rest = (DATA / "kueue.yaml").read_text().partition("---")
    with pytest.raises(TopologyError, match=words):
        import_topology("kueue", source(head.replace(*change) + "---" + rest))


def test_one_of_several_level_lists() -> None:
    """Chosen by name, refused without."""
    text = (DATA / "kueue.yaml").read_text()
    head = text.partition("---")[0]
    both = head.replace("name: default", "name: other") + "---\n" + text
    with pytest.raises(TopologyError, match="--topology-name: other, default"):
        import_topology("kueue", source(both))
    assert import_topology("kueue", source(both, topology_name="other")).document.name == "other"


def test_paths_that_are_too_long_for_a_name_are_cut_and_marked() -> None:
    """Five levels of the longest values that labels may have."""
    keys = tuple(f"level{at}" for at in range(5))
    own = {f"n{at}": {key: (key + "x" * 63)[:62] + str(at) for key in keys} for at in range(2)}
    topology, _ = imported("node-labels", node_file(**own), levels=keys)
    assert max(len(domain.name) for domain in topology.domains) == 253
    assert domains(topology)[1] == sets("n0", "n1")


def test_half_a_character_is_refused() -> None:
    """JSON can spell it, and no output could write it."""
    with pytest.raises(TopologyError, match=r"nicode character|half a character"):
        import_topology("node-labels", source(node_file(a={"rack": "\ud800"}), levels=("rack",)))


def test_values_to_ignore_are_no_domains() -> None:
    """As switches elsewhere."""
    text = node_file(a={"rack": "r1"}, b={"rack": "old"}, c={"rack": "r1"})
    topology, _ = imported("node-labels", text, levels=("rack",), ignore=frozenset({"old"}))
    assert domains(topology) == {1: sets("a c")}
