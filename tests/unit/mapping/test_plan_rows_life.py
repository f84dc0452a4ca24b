"""The table of the issue "A PodGroup that stays true", rows 1 to 7, on pure code: a group's life.

Every step settles the world (passes until nothing changes) and the world itself checks that nothing forbidden is done
on the way. Left out: what a scheduler does with it (integration), single policies (their own files).
"""

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.changes import ApplyPodGroup, DeletePod
from tests.unit.mapping.builders import (
    HASH,
    OPTED_IN,
    at,
    group,
    group_template,
    lws,
    pod,
    pod_group,
    revision,
    template,
)
from tests.unit.mapping.rows import FIRST, FULL, GATE, NEW, leader_ready, name, world

# --- rows 1, 1b, 2: leader-first groups


@pytest.mark.parametrize(
    "owner",
    [
        leader_ready(),
        lws(annotations={**OPTED_IN, names.EXCLUSIVE_TOPOLOGY: "rack"}),
        lws(annotations={**OPTED_IN, names.SUBGROUP_EXCLUSIVE_TOPOLOGY: "rack"}),
    ],
    ids=["row 1 LeaderReady", "row 2 exclusive-topology", "row 2 subgroup-exclusive-topology"],
)
def test_leader_first_minimum_rises_when_the_leader_is_bound(owner):
    """{leader 1} with the whole group's resources, then the whole, before any worker is there."""
    here = world(owner, pod("0"))
    here.settle()
    assert here.numbers() == {name(): FIRST}
    assert here.spec(name())["minResources"] == {"cpu": "4"}
    here.bind("demo-0")
    here.settle()
    assert here.numbers() == {name(): FULL}


def test_row_1_a_worker_is_gated_until_the_whole_minimum_is_seen():
    """The gate outlives the pass that raises the minimum, and goes in the one that sees it raised."""
    here = world(leader_ready(), pod("0"), pod("0", 1, gates=[GATE]))
    here.settle()
    assert here.pods["demo-0-1"].spec.scheduling_gates
    here.bind("demo-0")
    raising = here.once()
    assert [type(change) for change in raising.changes] == [ApplyPodGroup]
    opening = here.once()
    assert [change.name for change in opening.changes] == ["demo-0-1"]
    assert not here.pods["demo-0-1"].spec.scheduling_gates


def test_row_1b_the_minimum_goes_back_for_a_new_leader_and_up_again():
    """Same PodGroup through the restart of a leader-first group."""
    here = world(leader_ready(), *group(node="n1"))
    here.settle()
    uid = here.pod_groups[name()]["metadata"]["uid"]
    for one in list(here.pods):
        here.edit_pod(one, metadata={"deletionTimestamp": at(0)})
    here.settle()
    assert here.numbers() == {name(): FULL}, "without a leader it stays"
    here.drop(*list(here.pods))
    here.put(pod("0", uid="new-leader", created=1))
    here.settle()
    assert here.numbers() == {name(): FIRST}
    here.bind("demo-0")
    here.settle()
    assert here.numbers() == {name(): FULL}
    assert here.pod_groups[name()]["metadata"]["uid"] == uid


def test_row_1b_the_minimum_stays_while_a_free_worker_could_start_alone():
    """A waiting worker without our gate holds the minimum up."""
    here = world(leader_ready(), *group(node="n1"))
    here.settle()
    here.put(pod("0", uid="new-leader", created=1), pod("0", 1, uid="new-worker", created=1))
    here.settle()
    assert here.numbers() == {name(): FULL}


def test_row_1b_a_stranded_group_is_reported_and_released_once():
    """After the limit: condition and notice; by configuration the leader goes, and never a second time."""
    here = world(leader_ready(), settings=Settings(release_stranded=True, stranded_after=60))
    here.put(pod("0", node="n1", created=-100), *(pod("0", rank, created=-90) for rank in (1, 2, 3)))
    found = here.settle()
    assert here.pods["demo-0"].terminating
    released = [change for change in here.writes if isinstance(change, DeletePod)]
    assert [change.uid for change in released] == [f"uid-of-demo-0-{HASH}"]
    here.drop(*list(here.pods))
    here.put(pod("0", node="n1", created=-100, uid="second"))
    found = here.settle()
    assert found.condition.reason is Reason.PODS_NOT_CREATED
    assert "the leader has a node and is not Ready yet" in found.condition.message
    assert "released once" in found.condition.message
    here.put(*(pod("0", r, created=-90) for r in (1, 2, 3)))
    found = here.settle()
    assert found.condition.reason is Reason.STRANDED
    assert "free room for them; the group was stranded and has been released once" in found.condition.message
    assert not here.pods["demo-0"].terminating


def test_row_1b_without_the_setting_a_stranded_group_is_only_reported():
    """The limit is a matter of time: the plan says when to look again, and then says stranded."""
    here = world(leader_ready(), pod("0", node="n1", created=-30), *(pod("0", r, created=-20) for r in (1, 2, 3)))
    found = here.settle()
    assert found.recheck_after == 40.0
    assert found.condition.reason is not Reason.STRANDED
    here.now = here.now.replace(minute=5)
    found = here.settle()
    assert found.condition.reason is Reason.STRANDED
    assert not any(isinstance(change, DeletePod) for change in here.writes)


# --- rows 3, 3b: restarts and rollouts


@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None", "Default"])
def test_row_3_the_pod_group_outlives_a_restart(policy):
    """Old pods end, new ones of the same names come: the same PodGroup, not one write."""
    here = world(lws(groups=group_template(restartPolicy=policy)), *group(node="n1"))
    here.settle()
    before, writes = dict(here.pod_groups), len(here.writes)
    for one in list(here.pods):
        here.edit_pod(one, metadata={"deletionTimestamp": at(0)})
        here.settle()
    here.drop("demo-0", "demo-0-1")
    here.put(pod("0", uid="new"))
    found = here.settle()
    assert [(row.created, row.placed) for row in found.groups] == [(1, 0)], "ending members are not present"
    here.put(*(pod("0", rank, uid=f"new-{rank}", owner="new-sts", created=1) for rank in (1, 2, 3)))
    here.bind(*here.pods)
    here.settle()
    assert here.pod_groups == before
    assert len(here.writes) == writes


def test_row_3_the_pod_group_outlives_the_moment_without_pods():
    """All pods of the group are gone before the new leader comes: it is the same PodGroup, with no write."""
    here = world(lws(replicas=2), *group("0", node="n1"), *group("1", node="n1"))
    here.settle()
    before, writes = dict(here.pod_groups), len(here.writes)
    here.drop(*[one for one in here.pods if one.startswith("demo-1")])
    here.settle()
    here.put(pod("1", uid="new"))
    here.settle()
    assert here.pod_groups == before
    assert len(here.writes) == writes


def test_row_3_an_old_revision_comes_back_only_below_the_partition():
    """There its PodGroup stays through the moment without pods, else it goes at once."""
    rollout = {"rollingUpdateConfiguration": {"partition": 1}}
    owner = lws(replicas=2, rolloutStrategy=rollout)
    here = world(owner, *group("0"), *group("1"), revisions=[
        revision(owner), revision(owner, hash_=NEW, number=2),
    ])  # fmt: skip
    here.settle()
    here.drop(*list(here.pods))
    here.settle()
    assert set(here.numbers()) == {name("0")}


def test_row_3_restart_policy_none_a_new_leader_joins_the_same_pod_group():
    """R20 (b): the workers run on, the new leader finds the PodGroup and the minimum unchanged."""
    here = world(lws(groups=group_template(3, restartPolicy="None")), *group(size=3, node="n1"))
    here.settle()
    before = dict(here.pod_groups)
    here.put(pod("0", uid="new-leader", created=1))
    found = here.settle()
    assert here.pod_groups == before
    assert [(row.created, row.placed) for row in found.groups] == [(3, 2)]


def test_row_3_a_late_event_of_an_old_pod_changes_nothing():
    """Of two pods with one name the older one does not count, whatever order they come in."""
    old = pod("0", uid="old", node="n1", created=-50)
    here = world(leader_ready(), pod("0", uid="new", created=0))
    here.settle()
    here.pods["late"] = old
    here.settle()
    assert here.numbers() == {name(): FIRST}


def test_row_3b_a_rollout_on_a_full_cluster_makes_and_drops_pod_groups_with_their_pods():
    """MaxSurge 0: the old PodGroup goes with its last pod, the new one comes with its leader, never ahead."""
    owner = lws(replicas=2)
    here = world(owner, *group("0", node="n1"), *group("1", node="n2"), revisions=[
        revision(owner), revision(owner, hash_=NEW, number=2),
    ])  # fmt: skip
    here.settle()
    for index in ("1", "0"):
        for rank in (3, 2, 1, 0):
            here.settle()
            assert name(index) in here.numbers()
            assert name(index, NEW) not in here.numbers()
            here.drop(f"demo-{index}-{rank}" if rank else f"demo-{index}")
        here.settle()
        assert name(index) not in here.numbers()
        here.put(pod(index, hash_=NEW))
        here.settle()
        assert here.numbers()[name(index, NEW)] == FULL
        here.put(*group(index, hash_=NEW, node="n3"))
    here.settle()
    assert set(here.numbers()) == {name("0", NEW), name("1", NEW)}


# --- rows 4 to 6


def test_row_4_surge_groups_and_both_revisions_have_their_own_pod_groups():
    """maxSurge: index 4 has pods although replicas is 4; one PodGroup a (group, revision) that has pods."""
    owner = lws(replicas=4)
    old, new = revision(owner), revision(owner, group_template(2), hash_=NEW, number=2)
    here = world(owner, revisions=[old, new])
    here.put(*(one for index in "0123" for one in group(index, node="n1")), *group("4", 2, hash_=NEW))
    here.settle()
    small = (2, {"leader": 1, "worker": 1})
    assert here.numbers() == {**{name(index): FULL for index in "0123"}, name("4", NEW): small}
    for index in "0123":
        here.drop(*(one for one in list(here.pods) if one.startswith(f"demo-{index}")))
        here.put(*group(index, 2, hash_=NEW, node="n2"))
        here.settle()
        assert here.numbers()[name(index, NEW)] == small
    here.drop("demo-4", "demo-4-1")
    here.settle()
    assert set(here.numbers()) == {name(index, NEW) for index in "0123"}


def test_row_4_partition_keeps_old_groups_with_old_numbers():
    """Groups below the partition keep their revision's PodGroup as long as they have pods."""
    owner = lws(replicas=3, groups=group_template(2))
    here = world(owner, revisions=[revision(owner), revision(owner, group_template(2), hash_=NEW, number=2)])
    here.put(*group("0"), *group("1"), *group("2", 2, hash_=NEW), *group("3", 2, hash_=NEW))
    here.settle()
    assert [numbers[0] for numbers in here.numbers().values()] == [4, 4, 2, 2]


def test_row_5_resize_gives_the_new_revision_new_numbers_and_leaves_the_old():
    """Size 4 -> 1, GPU 10 -> 1: each revision its own; no worker key at size 1."""
    big = group_template(4, template(requests={"nvidia.com/gpu": "10"}))
    small = group_template(1, template(requests={"nvidia.com/gpu": "1"}))
    owner = lws(groups=small)
    here = world(owner, revisions=[revision(owner, big), revision(owner, small, hash_=NEW, number=2)])
    here.put(*group("0"), pod("1", hash_=NEW))
    here.settle()
    assert here.numbers() == {name("0"): FULL, name("1", NEW): (1, {"leader": 1})}
    assert here.spec(name("0"))["minResources"] == {"nvidia.com/gpu": "40"}
    assert here.spec(name("1", NEW))["minResources"] == {"nvidia.com/gpu": "1"}


@pytest.mark.parametrize("what", ["terminating", "of the LWS before"])
def test_row_6_a_pod_group_that_is_not_ours_any_more_is_waited_for(what):
    """R17 (c): nothing is written over it, the rest goes on, and a new one is made as soon as it is gone."""
    owner = lws(replicas=2)
    before = lws(uid="the one before")
    metadata = {"deletionTimestamp": at(-1), "finalizers": ["example.com/held"]}
    there = (
        pod_group(owner=owner, metadata=metadata)
        if what == "terminating"
        else pod_group(owner=before, metadata={"uid": "old"})
    )
    here = world(owner, there, pod("0"), pod("1"))
    found = here.settle()
    assert name("1") in here.numbers(), "other groups are served at once"
    assert found.blocked == (name("0"),)
    assert found.groups[0].reason is Reason.NAME_TAKEN
    del here.pod_groups[name("0")]
    here.settle()
    assert here.numbers() == {name("0"): FULL, name("1"): FULL}


# --- row 7: going away


@pytest.mark.parametrize("replicas", [0, 2])
def test_row_7_scale_down_takes_pods_first_and_pod_groups_after(replicas):
    """R17 (a): the PodGroup stays until the last pod of its group is gone, then goes at once."""
    here = world(lws(replicas=4), *(one for index in "0123" for one in group(index, node="n1")))
    here.settle()
    here.lws = lws(replicas=replicas)
    gone = [one for one in here.pods if int(one.split("-")[1]) >= replicas]
    for one in gone:
        here.edit_pod(one, metadata={"deletionTimestamp": at(0)})
    here.settle()
    assert len(here.numbers()) == 4
    here.drop(*gone)
    found = here.settle()
    assert set(here.numbers()) == {name(str(index)) for index in range(replicas)}
    assert found.condition.status


def test_row_7_nothing_is_made_for_an_lws_that_is_being_deleted():
    """Foreground deletion: pods and PodGroups go, none comes back."""
    here = world(lws(metadata={"deletionTimestamp": at(-1)}), *group(node="n1"))
    assert not here.settle().changes
    assert not here.pod_groups


def test_row_7_opt_out_leaves_running_pods_alone_and_their_pod_group_until_they_end():
    """Removing the annotation writes nothing; the PodGroup goes with its last pod, new pods get none."""
    here = world(lws(), *group(node="n1"))
    here.settle()
    here.lws = lws(annotations={})
    writes = len(here.writes)
    found = here.settle()
    assert len(here.writes) == writes
    assert found.condition is None
    here.drop(*list(here.pods))
    here.put(*group(node="n1", joined=False))
    here.settle()
    assert not here.pod_groups


def test_row_7_opt_out_in_the_middle_of_a_leader_first_start_still_ends_well():
    """The minimum rises for the gated workers that are there, and their gates go."""
    here = world(leader_ready(), pod("0"), pod("0", 1, gates=[GATE]))
    here.settle()
    here.lws = leader_ready(annotations={})
    here.bind("demo-0")
    here.settle()
    assert here.numbers() == {name(): FULL}
    assert not here.pods["demo-0-1"].spec.scheduling_gates
