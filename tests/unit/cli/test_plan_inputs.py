"""What a plan is made of: the objects of files on top of those of a cluster, and the first topology there is.

Left out: reading the files (test_documents), reading the cluster (test_live), what is planned from it (test_plan).
"""

import pytest
import yaml

from lws_volcano.api.cluster import Namespace, Node
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import HyperNode, Queue
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.cli.plan_inputs import gather
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.state.topology_given import from_record


def raw(kind, name, namespace="", **more):
    """A manifest."""
    metadata = {"name": name, "uid": f"{kind}-{name}", **({"namespace": namespace} if namespace else {})}
    return {"kind": kind, "metadata": metadata, **more}


def node(name, rack):
    """A node with a label that a topology is made from."""
    return {"kind": "Node", "metadata": {"name": name, "labels": {"example.com/rack": rack}}}


def topology(name="dc"):
    """Racks from labels: without nodes there is none."""
    levels = [{"tier": "rack", "key": "example.com/rack"}]
    return raw("ClusterTopology", name, spec={"tiers": [{"name": "rack"}], "nodeLabels": levels})


def hyper_node(name, *members):
    """A HyperNode of the lowest tier."""
    listed = [{"type": "Node", "selector": {"exactMatch": {"name": member}}} for member in members]
    return raw("HyperNode", name, spec={"tier": 1, "members": listed})


@pytest.fixture
def cluster():
    """A cluster that was looked at once and holds the given manifests."""

    def looked_at(*manifests):
        found = Cluster()
        kinds = found.kinds
        views = {"LeaderWorkerSet": (kinds.lws, LeaderWorkerSet), "Node": (kinds.nodes, Node), "Pod": (kinds.pods, Pod),
                 "Queue": (kinds.queues, Queue), "Namespace": (kinds.namespaces, Namespace),
                 "HyperNode": (kinds.hyper_nodes, HyperNode),
                 "ClusterTopology": (kinds.topologies, TopologyRecord)}  # fmt: skip
        for name, (kind, view) in views.items():
            kind.store.replace([(view.parse(one), 0) for one in manifests if one["kind"] == name], 0)
        given = [from_record(one) for one in kinds.topologies.store]
        found.resolution = Catalog().resolve(given, tuple(kinds.nodes.store))
        return found

    return looked_at


@pytest.fixture
def file(tmp_path):
    """Write manifests and give the path."""

    def write(*manifests, name="in.yaml"):
        (tmp_path / name).write_text(yaml.safe_dump_all(manifests))
        return str(tmp_path / name)

    return write


def test_files_lie_on_top_of_the_cluster(cluster, file):
    """Nodes, queues, namespaces and pods of both; nothing of the cluster is lost because a file has one of the kind."""
    there = cluster(node("a", "r1"), raw("Queue", "default"), raw("Namespace", "x"), raw("Pod", "p", "x"))
    given = file(node("b", "r1"), raw("Queue", "mine"), raw("Namespace", "y"), raw("Pod", "q", "x"))
    found = gather([given], None, cluster=there).inventory
    assert [one.name for one in found.nodes] == ["a", "b"]
    assert [one.name for one in found.pods] == ["p", "q"]
    assert set(found.queues) == {"default", "mine"}
    assert set(found.namespaces) == {"x", "y"}


def test_what_is_given_takes_the_place_of_what_is_there(cluster, file):
    """A manifest without a namespace is the one in `default`, as kubectl takes it."""
    there = cluster(raw("LeaderWorkerSet", "demo", "default", spec={"replicas": 1}), node("a", "r1"))
    given = file(raw("LeaderWorkerSet", "demo", spec={"replicas": 3}), node("a", "r2"))
    found = gather([given], None, cluster=there).inventory
    assert [(one.name, one.spec.replicas) for one in found.sets] == [("demo", 3)]
    assert [one.metadata.labels for one in found.nodes] == [{"example.com/rack": "r2"}]


def test_nothing_is_concluded_from_a_kind_that_was_not_read(cluster, file):
    """No queue in a file says nothing of queues; an empty list of a cluster does."""
    assert gather([file(node("a", "r1"))], None).inventory.queues is None
    assert gather([], None, cluster=cluster()).inventory.queues == {}


def test_a_topology_file_is_resolved_against_the_nodes_of_the_cluster(cluster, file):
    """Domains that come from labels are not empty because the nodes are in another place."""
    found = gather([], file(topology()), cluster=cluster(node("a", "r1"), node("b", "r2")))
    assert [domain.name for domain in found.inventory.topology.domains] == ["r1", "r2"]
    assert found.own_topology


def test_the_topology_of_the_cluster_is_its_own_or_that_of_its_hyper_nodes(cluster):
    """Topologies mounted into the controller are seen by what it has written; those HyperNodes stay as they are."""
    nodes = (node("a", "r1"), node("b", "r2"))
    own = gather([], None, cluster=cluster(*nodes, topology(), hyper_node("other", "a")))
    assert [domain.name for domain in own.inventory.topology.domains] == ["r1", "r2"]
    assert own.own_topology
    read = gather([], None, cluster=cluster(*nodes, hyper_node("rack-1", "a", "b")))
    assert [domain.name for domain in read.inventory.topology.domains] == ["rack-1"]
    assert not read.own_topology
    assert gather([], None, cluster=cluster(*nodes)).inventory.topology is None


def test_settings_of_the_controller_reach_the_plan(file):
    """`--config` decides who is opted in."""
    assert gather(
        [file(node("a", "r"))], None, settings=Settings(gang_by_default=True)
    ).inventory.settings.gang_by_default
