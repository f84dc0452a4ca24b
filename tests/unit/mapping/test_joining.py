"""Pods that came past the webhook or before the opt-in, and pods that wait under our gate."""

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.mapping.changes import AnnotatePod
from tests.unit.mapping.builders import HASH, at, group, group_template, lws, pod, pod_group, revision, template
from tests.unit.mapping.world import World

NAME = f"demo-0-{HASH}"
STRAY = {names.GROUP_NAME: "podgroup-6f1c", names.TASK_SPEC: "x"}


def world(owner=None, *pods):
    """A world with these pods."""
    owner = owner or lws()
    here = World(owner)
    here.put(revision(owner, owner.spec.leader_worker_template.manifest()), *pods)
    return here


def names_on(here):
    """Group name on every pod."""
    return {one.metadata.annotations.get(names.GROUP_NAME) for one in here.pods.values()}


def test_an_unbound_pod_without_a_group_is_pointed_to_its_own():
    """With its task; also one that Volcano has put into a PodGroup of its StatefulSet."""
    here = world(lws(), pod(joined=False), pod("0", 1, joined=False, annotations={names.GROUP_NAME: "podgroup-6f1c"}))
    here.settle()
    assert names_on(here) == {NAME}
    assert [one.metadata.annotations[names.TASK_SPEC] for one in here.pods.values()] == ["leader", "worker"]
    assert all(isinstance(change, AnnotatePod) for change in here.writes[1:])


def test_the_pod_group_is_there_before_a_pod_is_pointed_to_it():
    """In the order of changes."""
    here = world(lws(), pod(joined=False))
    assert [type(change).__name__ for change in here.once().changes] == ["ApplyPodGroup", "AnnotatePod"]


def test_a_pod_that_names_another_pod_group_is_left_alone_and_reported():
    """Somebody meant that."""
    here = world(lws(), pod(), pod("0", 1, annotations={names.GROUP_NAME: "theirs"}))
    found = here.settle()
    assert here.pods["demo-0-1"].metadata.annotations[names.GROUP_NAME] == "theirs"
    assert [notice.reason for notice in found.notices] == [Reason.POD_NOT_IN_GANG]


def test_a_running_group_that_is_opted_in_later_gets_no_empty_pod_group():
    """It would hold queue room; the pods join when the group restarts, and it is said."""
    here = world(lws(), *group(node="n1", joined=False))
    found = here.settle()
    assert not here.pod_groups
    assert [notice.reason for notice in found.notices] == [Reason.POD_NOT_IN_GANG]
    assert (found.condition.status, found.condition.reason) == (False, Reason.POD_NOT_IN_GANG)
    assert "delete its leader pod" in found.condition.message
    assert [row.reason for row in found.groups] == [Reason.POD_NOT_IN_GANG]
    here.drop(*list(here.pods))
    here.put(pod(uid="new"))
    here.settle()
    assert set(here.numbers()) == {NAME}


def test_members_that_cannot_join_any_more_are_not_waited_for():
    """The leader got its node before the gang was asked for: the workers make the minimum."""
    here = world(
        lws(startupPolicy="LeaderReady"), pod(node="n1", joined=False), pod("0", 1, gates=[names.MINIMUM_GATE])
    )
    here.settle()
    assert here.numbers() == {NAME: (3, {"worker": 3})}
    assert not here.pods["demo-0-1"].spec.scheduling_gates


def test_the_pod_group_follows_task_names_of_the_users_own():
    """One name for both roles is one task."""
    head, tail = template({names.TASK_SPEC: "head"}), template(labels={names.TASK_SPEC: "tail"})
    here = world(lws(groups=group_template(4, tail, head)), pod())
    here.settle()
    assert here.numbers() == {NAME: (4, {"head": 1, "tail": 3})}
    here = world(lws(groups=group_template(4, template({names.TASK_SPEC: "all"}))), pod())
    here.settle()
    assert here.numbers() == {NAME: (4, {"all": 4})}


def test_gates_of_a_dying_pod_groups_pods_go_with_the_new_one():
    """Leader and workers alike, and not before."""
    owner = lws()
    dying = pod_group(owner=owner, metadata={"deletionTimestamp": at(-1), "finalizers": ["x/y"]})
    here = world(owner, dying, *group(gates=[names.MINIMUM_GATE]))
    found = here.settle()
    assert found.blocked == (NAME,)
    assert all(one.spec.scheduling_gates for one in here.pods.values())
    here.pod_groups.clear()
    here.settle()
    assert here.numbers() == {NAME: (4, {"leader": 1, "worker": 3})}
    assert not any(one.spec.scheduling_gates for one in here.pods.values())


def test_a_gate_that_waits_for_nothing_goes():
    """Opted out before the PodGroup came; the gang refused."""
    for owner in (lws(annotations={}), lws(groups=group_template(6, subGroupPolicy={"subGroupSize": 4}))):
        here = world(owner, pod("0", 1, gates=[names.MINIMUM_GATE, "other"]))
        here.settle()
        assert [gate.name for gate in here.pods["demo-0-1"].spec.scheduling_gates] == ["other"]


def test_a_bad_edit_in_the_middle_of_a_leader_first_start_still_ends_well():
    """Nothing new is written for a hard constraint that can't be kept, but the minimum of what is there stays true."""
    here = world(lws(startupPolicy="LeaderReady"), pod(), pod("0", 1, gates=[names.MINIMUM_GATE]))
    here.settle()
    bad = {names.GANG: "true", names.NETWORK_TOPOLOGY_HIGHEST_TIER: "no-such-tier"}
    here.lws = lws(startupPolicy="LeaderReady", annotations=bad)
    here.bind("demo-0")
    here.put(pod("1"))
    found = here.settle()
    assert here.numbers() == {NAME: (4, {"leader": 1, "worker": 3})}
    assert not here.pods["demo-0-1"].spec.scheduling_gates
    assert found.condition.reason is Reason.TIER_NOT_FOUND
    here.lws = lws(startupPolicy="LeaderReady", annotations={**bad, names.NETWORK_TOPOLOGY_HIGHEST_TIER: "1"})
    here.settle()
    assert len(here.numbers()) == 2
    assert here.spec(NAME)["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}


def test_the_mark_of_a_release_goes_when_the_group_has_been_placed():
    """So that a later stranding may be released again."""
    here = world(lws(), *group())
    here.settle()
    here.pod_groups[NAME]["metadata"].setdefault("annotations", {})[names.RELEASED] = "a former leader"
    here.settle()
    assert here.pod_groups[NAME]["metadata"]["annotations"] == {names.RELEASED: "a former leader"}
    here.bind(*here.pods)
    here.settle()
    assert not here.pod_groups[NAME]["metadata"].get("annotations")
