"""Which topology is in use: last good ones, files that come and go, and the capacity that counts along it.

Left out: what a document means (tests/unit/topology), watching and waiting (tests/integration/test_topology).
"""

import gzip

import pytest
import yaml

from lws_volcano.api.cluster import Node
from lws_volcano.api.names import Reason
from lws_volcano.api.volcano import HyperNode
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.state.topology_given import TopologyFiles, from_hyper_nodes, from_record
from lws_volcano.topology.status import topology_status


def document(racks, name="dc"):
    """Racks (name -> nodes) of one tier."""
    domains = [{"name": rack, "tier": "rack", "nodes": list(nodes)} for rack, nodes in racks.items()]
    spec = {"tiers": [{"name": "rack"}], "domains": domains}
    return {
        "apiVersion": "lws-volcano.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": name},
        "spec": spec,
    }


def given(racks, name="dc", generation=1):
    """An object of the cluster."""
    raw = document(racks, name)
    raw["metadata"]["generation"] = generation
    return from_record(TopologyRecord.parse(raw))


def nodes(*names):
    """Nodes."""
    return tuple(Node.parse({"metadata": {"name": name, "uid": name}}) for name in names)


HERE = nodes("n1", "n2", "n3")
GOOD = {"r1": ["n1"], "r2": ["n2"]}


def test_a_refused_one_goes_on_as_it_last_was_on_the_nodes_of_now():
    """A node in two racks is refused; one that has joined a rack of the last good document counts."""
    catalog = Catalog()
    catalog.resolve([given({"r1": ["n1"], "r2": ["n2", "n9"]})], HERE)
    after = catalog.resolve([given({"r1": ["n1"], "r2": ["n1"]})], nodes("n1", "n2", "n9"))
    assert after.topology is not None
    assert set(after.topology.nodes) == {"n1", "n2", "n9"}
    entry = after.entries["dc"]
    assert entry.refused
    status = topology_status(entry.topology, entry.findings, generation=2, now="", refused=True)
    (condition,) = status["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", Reason.TOPOLOGY_INVALID)
    assert "stays in use" in condition["message"]


def test_an_empty_one_does_not_replace_a_good_one():
    """A file that is not filled yet; with nothing good before it, it is empty and no crash."""
    catalog = Catalog()
    assert catalog.resolve([given({})], HERE).topology is None
    catalog.resolve([given(GOOD)], HERE)
    after = catalog.resolve([given({})], HERE)
    assert after.topology is not None
    entry = after.entries["dc"]
    status = topology_status(entry.topology, entry.findings, generation=2, now="", refused=entry.refused)
    assert status["conditions"][0]["reason"] == Reason.TOPOLOGY_EMPTY


def test_one_bad_one_does_not_cost_the_others():
    """Each for itself; one that is gone is forgotten."""
    catalog = Catalog()
    found = catalog.resolve([given({"r1": ["n1"]}, "a"), given({"r1": ["n2"], "r2": ["n2"]}, "b")], HERE)
    assert found.topology is not None
    assert found.topology.nodes == ("n1",)
    assert found.entries["b"].topology is None
    assert catalog.resolve([], HERE).topology is None
    assert catalog.resolve([given({"r1": ["n1"], "r2": ["n1"]}, "a")], HERE).topology is None


def test_a_name_that_is_given_twice_is_said():
    """The object of the cluster counts, not the file."""
    found = Catalog().resolve([given({"r1": ["n1"]}), given({"r9": ["n2"]})], HERE)
    assert found.topology is not None
    assert found.topology.nodes == ("n1",)
    assert "given twice" in str(found.entries["dc"].findings[-1])


def write(path, racks, name="dc"):
    """A topology file."""
    path.write_text(yaml.safe_dump(document(racks, name)))


def test_files_of_a_directory_as_a_config_map_mounts_them(tmp_path):
    """Links into a hidden directory; other files are passed over, packed ones are read."""
    hidden = tmp_path / "..2026"
    hidden.mkdir()
    write(hidden / "a.yaml", GOOD, "a")
    (tmp_path / "a.yaml").symlink_to(hidden / "a.yaml")
    (tmp_path / "b.yaml.gz").write_bytes(gzip.compress(yaml.safe_dump(document(GOOD, "b")).encode()))
    (tmp_path / "notes.txt").write_text("nothing")
    files = TopologyFiles(tmp_path)
    assert [one.name for one in files.read()] == ["a", "b"]
    before = files.signature()
    write(hidden / "a.yaml", {"r1": ["n1", "n2"]}, "a")
    assert files.signature() != before


@pytest.mark.parametrize("text", ["", "\n", "# later\n", "a: [", "kind: Pod\n", "\0"])
def test_a_file_that_turns_bad_is_refused_and_not_gone(tmp_path, text):
    """Under the names that it held; a file that is removed from its directory is gone."""
    file = tmp_path / "any.yaml"
    write(file, GOOD)
    files = TopologyFiles(tmp_path)
    files.read()
    file.write_text(text)
    (refused,) = files.read()
    assert (refused.name, refused.source) == ("dc", None)
    assert refused.findings
    file.unlink()
    assert files.read() == []


def test_a_file_that_is_named_and_not_there(tmp_path):
    """A mount that is late, or lost."""
    file = tmp_path / "dc.yaml"
    files = TopologyFiles(file)
    (late,) = files.read()
    assert late.source is None
    write(file, GOOD)
    files.read()
    file.unlink()
    assert [one.name for one in files.read()] == ["dc"]


def test_slurm_files_can_be_mounted(tmp_path):
    """The bare root switch of a managed cluster is empty; filled, it is a topology named like its file."""
    file = tmp_path / "slurm.conf"
    file.write_text("SwitchName=root\n")
    files, catalog = TopologyFiles(tmp_path), Catalog()
    assert catalog.resolve(files.read(), HERE).topology is None
    file.write_text("SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=root Switches=leaf1\n")
    found = catalog.resolve(files.read(), HERE)
    assert found.topology is not None
    assert (found.topology.name, found.topology.nodes) == ("slurm", ("n1", "n2"))


def test_hyper_nodes_of_others_can_be_read():
    """Tree and tiers are theirs."""
    members = [{"type": "Node", "selector": {"exactMatch": {"name": name}}} for name in ("n1", "n2")]
    theirs = HyperNode.parse({"metadata": {"name": "leaf", "uid": "u"}, "spec": {"tier": 1, "members": members}})
    found = Catalog().resolve([from_hyper_nodes([theirs], {"n1": {}, "n2": {}})], HERE)
    assert found.topology is not None
    assert found.topology.nodes == ("n1", "n2")
