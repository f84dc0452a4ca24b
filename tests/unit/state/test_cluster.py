"""Which keys a change touches, and what a snapshot holds.

Covers: every kind of a pass, strangers, orphans, absence of optional kinds. Leaves out: what the keys lead to.
"""

from datetime import UTC, datetime
from typing import Any

from lws_volcano.api import names
from lws_volcano.api.settings import Settings
from lws_volcano.kube.lists import Listed, Page
from lws_volcano.kube.watch import Timing, Update
from lws_volcano.state.cluster import Area, Cluster, Key
from lws_volcano.state.kinds import Kind
from lws_volcano.state.reflector import Reflector
from lws_volcano.state.snapshots import snapshot
from lws_volcano.topology.build import build
from lws_volcano.topology.schema import ClusterTopology
from tests.contract import manifests
from tests.contract.clocks import ManualClock

TOPOLOGY = build(
    ClusterTopology.model_validate(
        {
            "apiVersion": names.OUR_API,
            "kind": "ClusterTopology",
            "metadata": {"name": "dc1"},
            "spec": {"tiers": [{"name": "rack"}], "domains": [{"name": "r1", "tier": "rack", "nodes": ["n1"]}]},
        }
    ),
    None,
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
Json = dict[str, Any]


class World:
    """A cluster whose stores are filled by hand, through the reflectors, and the keys that were touched."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        timing = Timing(clock=ManualClock())
        self._reflectors = {
            kind.name: Reflector(None, self.cluster, kind, timing)  # type: ignore[arg-type]
            for kind in self.cluster.kinds.all()
        }
        self._version = 0
        self.touched: list[str] = []
        self.cluster.listen(self._note)
        for reflector in self._reflectors.values():
            reflector.take(Page([], first=True))
            reflector.take(Listed("0"))

    def _note(self, kind: Kind[Any], difference: Any) -> None:
        self.touched += [key.name for key in self.cluster.touched(kind, difference)]

    def put(self, plural: str, manifest: Json, uid: str = "") -> list[str]:
        """Take a change; the keys that it touches."""
        self._version += 1
        metadata = {"uid": f"uid-{self._version}", **manifest["metadata"], "resourceVersion": str(self._version)}
        metadata |= {"uid": uid} if uid else {}
        return self._take(plural, Update("MODIFIED", {**manifest, "metadata": metadata}))

    def remove(self, plural: str, manifest: Json) -> list[str]:
        """Take a deletion."""
        self._version += 1
        metadata = {**manifest["metadata"], "resourceVersion": str(self._version)}
        return self._take(plural, Update("DELETED", {**manifest, "metadata": metadata}))

    def _take(self, plural: str, event: Update) -> list[str]:
        self.touched = []
        self._reflectors[plural].take(event)
        return self.touched


def pod_group(name: str, **metadata: Any) -> Json:
    """A PodGroup of anybody."""
    return {"metadata": {"namespace": "default", "name": name, **metadata}, "spec": {"minMember": 1}}


def test_pods_and_revisions_touch_their_set() -> None:
    """By label, also for a set that is not there (yet)."""
    world = World()
    assert world.put("pods", manifests.pod("demo")) == ["default/demo"]
    assert world.put("controllerrevisions", manifests.revision("demo")) == ["default/demo"]


def test_revisions_of_stateful_sets_are_not_kept() -> None:
    """They carry the same labels and are none of our business."""
    world = World()
    foreign = manifests.revision("demo")
    foreign["metadata"]["ownerReferences"] = [manifests.owner("StatefulSet", "demo")]
    assert world.put("controllerrevisions", foreign) == []
    assert len(world.cluster.kinds.revisions.store) == 0


def test_a_stranger_under_a_name_of_ours_touches_the_sets_that_could_mean_it() -> None:
    """PodGroup `a-b-0-x` may stand in the way of set `a-b`, or of set `a`; no other set is looked at."""
    world = World()
    for name in ("a", "a-b", "c"):
        world.put("leaderworkersets", manifests.lws(name))
    assert sorted(world.put("podgroups", pod_group("a-b-0-x"))) == ["default/a", "default/a-b"]


def test_a_change_that_only_counts_writes_touches_nothing() -> None:
    """Resource version and generation alone are no news."""
    world = World()
    world.put("podgroups", pod_group("x", labels={names.LWS_NAME: "demo"}), uid="u")
    assert world.put("podgroups", pod_group("x", labels={names.LWS_NAME: "demo"}, generation=7), uid="u") == []


def test_queues_and_classes_touch_every_set() -> None:
    """Which of them mean it is for the mapping to say; a status that counts pods is not such a change."""
    world = World()
    world.put("leaderworkersets", manifests.lws("demo"))
    queue = {"metadata": {"name": "q"}, "status": {"state": "Open"}}
    assert world.put("queues", queue, uid="q") == ["default/demo"]
    assert world.put("queues", {**queue, "status": {"state": "Open", "running": 7}}, uid="q") == []
    assert world.put("queues", {**queue, "status": {"state": "Closed"}}, uid="q") == ["default/demo"]
    assert world.put("priorityclasses", {"metadata": {"name": "p"}, "value": 1}) == ["default/demo"]


def test_a_namespace_touches_the_sets_in_it() -> None:
    """And no other."""
    world = World()
    world.put("leaderworkersets", manifests.lws("demo"))
    assert world.put("namespaces", {"metadata": {"name": "default"}}) == ["default/demo"]
    assert world.put("namespaces", {"metadata": {"name": "other"}}) == []


def test_all_keys_include_sets_that_left_pod_groups_behind() -> None:
    """A set that was deleted while nobody looked is looked at as well."""
    world = World()
    world.put("leaderworkersets", manifests.lws("here"))
    world.put("podgroups", pod_group("gone-0-x", labels={names.LWS_NAME: "gone"}))
    assert world.cluster.lws_keys() == [Key(Area.LWS, "default/here"), Key(Area.LWS, "default/gone")]


def test_a_snapshot_holds_one_set_and_what_belongs_to_it() -> None:
    """Pods by label, revisions by owner, PodGroups by owner, label or name; nothing of other sets."""
    world = World()
    for name in ("demo", "other"):
        world.put("leaderworkersets", manifests.lws(name))
        world.put("controllerrevisions", manifests.revision(name))
        world.put("pods", manifests.pod(name))
    world.put("podgroups", pod_group("owned", ownerReferences=[manifests.owner("LeaderWorkerSet", "demo")]))
    world.put("podgroups", pod_group("labelled", labels={names.LWS_NAME: "demo"}))
    world.put("podgroups", pod_group(manifests.pod_group_name("demo")))
    world.put("podgroups", pod_group("unrelated"))
    taken = snapshot(world.cluster, "default/demo", Settings(), NOW)
    assert taken is not None
    assert [pod.name for pod in taken.pods] == ["demo-0"]
    assert [revision.name for revision in taken.revisions] == [f"demo-{manifests.HASH}-1"]
    assert {group.name for group in taken.pod_groups} == {"owned", "labelled", manifests.pod_group_name("demo")}


def test_a_snapshot_of_nothing_is_none() -> None:
    """The set is gone."""
    assert snapshot(World().cluster, "default/demo", Settings(), NOW) is None


def test_a_kind_that_cannot_be_read_is_none_in_the_snapshot_and_not_empty() -> None:
    """So that nothing is concluded from an absence."""
    world = World()
    world.put("leaderworkersets", manifests.lws("demo"))
    world.cluster.kinds.queues.store.clear("no permission")
    taken = snapshot(world.cluster, "default/demo", Settings(), NOW)
    assert taken is not None
    assert taken.queues is None
    assert taken.priority_classes == {}


def test_an_object_that_cannot_be_read_does_not_stop_the_others() -> None:
    """It is passed over and said; it goes from the store, for nobody knows how it stands."""
    world = World()
    world.put("pods", manifests.pod("demo"))
    broken = manifests.pod("demo")
    broken["spec"]["containers"] = "none"
    world.put("pods", broken)
    assert world.put("pods", manifests.pod("other")) == ["default/other"]


def test_a_bound_pod_is_kept_slim_until_it_has_finished() -> None:
    """What it takes and where; what equal pods take is one object."""
    world = World()
    world.put("assignedpods", manifests.pod("demo", node="n1"))
    world.put("assignedpods", manifests.pod("demo", worker=1, node="n1"))
    assigned = world.cluster.kinds.assigned.store
    first, second = assigned
    assert (first.seat.node, first.seat.shape.requests) == ("n1", (("cpu", 10**9),))
    assert first.seat.shape is second.seat.shape
    finished = manifests.pod("demo", node="n1")
    finished["metadata"]["uid"] = first.uid
    finished["status"] = {"phase": "Succeeded"}
    world.put("assignedpods", finished)
    assert [pod.key for pod in assigned] == ["default/demo-0-1"]


def test_waiting_for_names_what_is_missing_and_why() -> None:
    """Required kinds until they are listed, optional ones only until it is known that they can't be."""
    cluster = Cluster()
    assert "podgroups.scheduling.volcano.sh" in cluster.waiting_for()
    for kind in cluster.kinds.of_pass():
        if kind.optional:
            kind.store.clear("no such kind")
        elif kind is not cluster.kinds.pods:
            kind.store.replace([], 1)
    cluster.kinds.pods.store.clear("no permission")
    assert cluster.waiting_for() == ["pods: no permission"]
    assert not cluster.ready


def hyper_node(name: str) -> Json:
    """A HyperNode of anybody."""
    return {"metadata": {"name": name, "uid": name}, "spec": {"tier": 1, "members": []}}


def test_the_first_and_the_last_hyper_node_touch_every_set() -> None:
    """Without any, the scheduler ignores network topology; those in between change nothing for a set."""
    world = World()
    world.put("leaderworkersets", manifests.lws("demo"))
    assert world.put("hypernodes", hyper_node("a")) == ["*", "default/demo"]
    assert world.put("hypernodes", hyper_node("b")) == ["*"]
    assert world.remove("hypernodes", hyper_node("a")) == ["*"]
    assert world.remove("hypernodes", hyper_node("b")) == ["*", "default/demo"]


def ignored(world: World, **settings: Any) -> str:
    """Why the snapshot says that network topology is ignored."""
    taken = snapshot(world.cluster, "default/demo", Settings(**settings), NOW)
    assert taken is not None
    return taken.capabilities.topology_ignored


def test_a_snapshot_says_that_there_is_no_hyper_node() -> None:
    """Not where we are about to write them, and not once there is one."""
    world = World()
    world.put("leaderworkersets", manifests.lws("demo"))
    assert "no HyperNode" in ignored(world)
    world.cluster.topology = TOPOLOGY
    assert not ignored(world)
    assert "no HyperNode" in ignored(world, hyper_nodes="read")
    world.put("hypernodes", hyper_node("a"))
    assert not ignored(world, hyper_nodes="read")
