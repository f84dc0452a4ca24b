"""When what a topology comes to is still being found out.

Left out: finding it out and following what changes (tests/unit/state/test_topologies, tests/integration/test_topology).
"""

import pytest

from lws_volcano.api.settings import Settings
from lws_volcano.controller.topology_follower import TopologyFollower
from lws_volcano.state.catalog import Catalog, Resolution
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.snapshots import snapshot
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.state.topology_given import TopologyFiles, from_record
from tests.contract import manifests
from tests.contract.clocks import ManualClock


def follower(*, files: TopologyFiles | None = None) -> TopologyFollower:
    """One that follows an empty cluster, HyperNodes listed."""
    cluster = Cluster()
    lws, hyper_nodes = cluster.kinds.lws, cluster.kinds.hyper_nodes
    asking = manifests.lws("demo")
    asking["metadata"]["annotations"]["volcano.sh/network-topology-mode"] = "soft"
    lws.store.replace([(lws.parse(asking), 1)], 1)
    hyper_nodes.store.replace([], 1)
    return TopologyFollower(cluster, Settings(), ManualClock(), files, lambda _keys: None)


def record(generation: int = 1) -> TopologyRecord:
    """A ClusterTopology without a domain."""
    return TopologyRecord.parse({"metadata": {"name": "dc", "uid": "u", "generation": generation}, "spec": {}})


def give(found: TopologyFollower, one: TopologyRecord) -> None:
    """It comes, or is changed."""
    kind = found.cluster.kinds.topologies
    found.cluster.changed(kind, kind.store.replace([(one, one.generation)], one.generation))


def resolved(*records: TopologyRecord) -> Resolution:
    """What comes of them on no node."""
    return Catalog().resolve([from_record(one) for one in records], ())


def ignored(found: TopologyFollower) -> str:
    """Why a set is told that its topology is ignored."""
    taken = snapshot(found.cluster, "default/demo", found.settings, found.clock.now())
    assert taken is not None
    return taken.capabilities.topology_ignored


def test_without_a_topology_nothing_is_waited_for() -> None:
    """That it is ignored can be said at once."""
    found = follower()
    assert not found.cluster.topology_pending()
    assert "no HyperNode" in ignored(found)


def test_one_that_has_come_is_waited_for_and_nothing_said_meanwhile() -> None:
    """From the moment it is seen until it is resolved; refused or empty, the set is told in the end."""
    found = follower()
    give(found, record())
    assert found.cluster.topology_pending()
    assert ignored(found) == ""
    found.cluster.resolution = resolved(record())
    assert not found.cluster.topology_pending()
    assert "no HyperNode" in ignored(found)


def test_one_that_was_changed_is_waited_for_again() -> None:
    """What is in use is that of an older generation; so is a second one beside it."""
    found = follower()
    found.cluster.resolution = resolved(record())
    give(found, record(2))
    assert found.cluster.topology_pending()
    found.cluster.resolution = resolved(record(2))
    assert not found.cluster.topology_pending()


def test_where_nodes_may_not_be_read_there_is_nothing_to_wait_for() -> None:
    """Nothing will ever come of it."""
    found = follower()
    give(found, record())
    found.cluster.kinds.nodes.store.clear("403 Forbidden: you may not")
    assert not found.cluster.topology_pending()


@pytest.mark.parametrize("there", [True, False])
def test_mounted_files_are_waited_for_once(tmp_path, there: bool) -> None:
    """From the start until they were read, whatever was in them."""
    if there:
        (tmp_path / "dc.yaml").write_text("nonsense")
    found = follower(files=TopologyFiles(tmp_path))
    assert found.cluster.topology_pending()
    found.cluster.resolution = resolved()
    assert not found.cluster.topology_pending()
