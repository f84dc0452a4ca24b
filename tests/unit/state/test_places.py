"""Capacity from the stores, places that are held and given up, and places that are lost.

Left out: planning (tests/unit/placement), making groups anew (tests/unit/mapping/test_remake).
"""

import json
from datetime import UTC, datetime, timedelta

from lws_volcano.api.names import GROUP_NAME, LWS_NAME, PLAN, REVISION_HASH, WORKER_INDEX
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.placement.node_lists import fold
from lws_volcano.state.capacity_feed import CapacityFeed
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.places import FRESH, Places
from lws_volcano.state.promises import GRACE, HOLD, Promises
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.state.topology_given import from_record

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GPU = "nvidia.com/gpu"
GROUP = "demo-0-h"


def container(gpus=8):
    """One that takes a whole node."""
    return {"name": "c", "resources": {"limits": {GPU: str(gpus)}}}


class Here:
    """Two racks of two nodes, one set, and what a replica makes of them."""

    def __init__(self):
        self.cluster = Cluster()
        self.kinds = self.cluster.kinds
        self.feed = CapacityFeed(self.cluster)
        self.promises = Promises(self.cluster, Settings(), self.feed.current)
        self.places = Places(self.cluster, Settings(), self.feed.current)
        self._version = 0
        for kind in self.kinds.all():
            kind.store.replace([], 0)
        for name in ("n1", "n2", "n3", "n4"):
            self.node(name)
        template = {"size": 2, "workerTemplate": {"spec": {"schedulerName": "volcano", "containers": [container()]}}}
        metadata = {"name": "demo", "namespace": "a", "uid": "u", "annotations": {"lws-volcano.io/gang": "true"}}
        self.put(self.kinds.lws, {"metadata": metadata, "spec": {"leaderWorkerTemplate": template}})
        racks = [{"name": rack, "tier": "rack", "nodes": nodes} for rack, nodes in
                 [("r1", ["n1", "n2"]), ("r2", ["n3", "n4"])]]  # fmt: skip
        raw = {"apiVersion": "lws-volcano.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "dc"},
               "spec": {"tiers": [{"name": "rack"}], "domains": racks}}  # fmt: skip
        self.cluster.resolution = Catalog().resolve(
            [from_record(TopologyRecord.parse(raw))], tuple(self.kinds.nodes.store)
        )
        assert self.feed.use(self.cluster.topology)

    def put(self, kind, raw):
        """The watch brings an object."""
        self._version += 1
        raw["metadata"].setdefault("uid", raw["metadata"]["name"])
        self.cluster.changed(kind, [kind.store.upsert(kind.parse(raw), self._version)])

    def remove(self, kind, key, uid):
        """The watch tells of a deletion."""
        self._version += 1
        self.cluster.changed(kind, [kind.store.remove(key, uid, self._version)])

    def node(self, name, *, cordoned=False):
        """A node of eight GPUs."""
        self.put(
            self.kinds.nodes,
            {
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "spec": {"unschedulable": cordoned},
                "status": {"allocatable": {GPU: "8", "pods": "110"}},
            },
        )

    def taken(self, name, node):
        """A bound pod of somebody."""
        raw = {"metadata": {"name": name, "namespace": "b"}, "spec": {"nodeName": node, "containers": [container()]}}
        self.put(self.kinds.assigned, raw)

    def leader(self, uid="leader", *, planned=("n1", "n2"), placement="preferred", within="", node=""):
        """The leader of the group, with its plan."""
        note = {
            "feasible": True,
            "domain": {"name": "r1"},
            "pods": [{"node": one} for one in planned],
            "alternatives": [{"domain": "r1", "nodes": fold(planned)}],
            "placement": placement,
            "within": within,
        }
        spec = {"nodeName": node, "containers": [container()]}
        if placement == "required" or within:
            term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(planned)}]}
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
            spec["affinity"] = {"nodeAffinity": required}
        metadata = {
            "name": "demo-0",
            "namespace": "a",
            "uid": uid,
            "labels": {LWS_NAME: "demo", WORKER_INDEX: "0", REVISION_HASH: "h",
                       "leaderworkerset.sigs.k8s.io/group-index": "0"},
            "annotations": {GROUP_NAME: GROUP, PLAN: json.dumps(note)},
        }  # fmt: skip
        self.put(self.kinds.pods, {"metadata": metadata, "spec": spec})
        if node:
            self.put(self.kinds.assigned, {"metadata": metadata, "spec": spec})

    def held(self):
        """What the group holds."""
        return dict(self.feed.capacity.reserved(f"a/{GROUP}"))


def test_capacity_follows_nodes_and_pods():
    """Bound pods take room, and give it back; a pod that comes back under its name is another."""
    here = Here()
    here.taken("p", "n1")
    assert here.feed.capacity.room("n1").pods == 1
    here.remove(here.kinds.assigned, "b/p", "p")
    assert here.feed.capacity.room("n1").pods == 0
    here.remove(here.kinds.nodes, "n4", "n4")
    assert here.feed.capacity.node_names() == ("n1", "n2", "n3")


def test_nothing_is_known_until_nodes_and_pods_are_listed():
    """A plan from half a cluster would be worse than none."""
    here = Here()
    assert here.feed.current() is not None
    here.kinds.assigned.store.clear("no permission")
    assert here.feed.current() is None


def test_the_same_topology_again_costs_nothing():
    """Counts stay warm."""
    here = Here()
    assert not here.feed.use(here.cluster.topology)


def test_a_plan_of_another_replica_holds_its_place():
    """From the leader pod; what is bound is not held any more."""
    here = Here()
    here.leader()
    assert here.held() == {0: "n1", 1: "n2"}
    here.leader(node="n1")
    assert here.held() == {1: "n2"}


def test_a_place_goes_with_its_leader_and_not_with_one_before():
    """LWS makes a group anew under the same name; its new plan may be held before the old leader is told gone."""
    here = Here()
    here.leader()
    here.remove(here.kinds.pods, "a/demo-0", "leader")
    assert here.held() == {}
    here.leader("new", planned=("n3", "n4"))
    old = {"feasible": True, "domain": None, "pods": [{"node": "n1"}]}
    annotations = {GROUP_NAME: GROUP, PLAN: json.dumps(old)}
    here.promises._let_go(Pod.parse({"metadata": {"name": "demo-0", "namespace": "a", "annotations": annotations}}))
    assert here.held() == {0: "n3", 1: "n4"}


def test_places_are_given_up_in_time():
    """Of a group that never came after a grace, of one that waits for something else after a limit, for good."""
    here = Here()
    here.leader()
    assert here.promises.sweep(0.0) == []
    assert here.promises.sweep(GRACE + 1) == []
    assert here.promises.sweep(HOLD + 1) == [f"a/{GROUP}"]
    here.leader()
    assert here.held() == {}
    here.leader("new")
    assert here.held()
    here.kinds.pods.store.remove("a/demo-0", "new", 10**6)
    here.promises.sweep(0.0)
    assert here.promises.sweep(GRACE + 1) == [f"a/{GROUP}"]


def test_a_lost_place_is_remembered_since_it_was_lost():
    """Only while there is room elsewhere, and only of a leader that is held to it."""
    here = Here()
    here.leader(placement="required")
    assert here.places.of("a/demo", NOW) == {GROUP: None}
    here.taken("p", "n1")
    lost = NOW + FRESH
    assert here.places.of("a/demo", lost) == {GROUP: lost}
    assert here.places.of("a/demo", lost + timedelta(minutes=5)) == {GROUP: lost}
    here.taken("q", "n3")
    here.taken("r", "n4")
    assert here.places.of("a/demo", lost + timedelta(minutes=9)) == {GROUP: None}
    here.leader(placement="preferred")
    assert here.places.of("a/demo", NOW) == {}


def test_the_place_of_a_placement_group_is_lost_like_any_other():
    """Its pods are held to the domain as well, so they must not wait there for ever."""
    here = Here()
    here.leader(within="r1")
    assert here.places.of("a/demo", NOW) == {GROUP: None}
    here.taken("p", "n1")
    assert here.places.of("a/demo", NOW + FRESH) == {GROUP: NOW + FRESH}


def test_a_set_that_is_not_known_loses_nothing():
    """The watch of sets may be behind that of pods."""
    here = Here()
    here.leader(placement="required")
    here.taken("p", "n1")
    here.remove(here.kinds.lws, "a/demo", "u")
    assert here.places.of("a/demo", NOW) == {GROUP: None}
