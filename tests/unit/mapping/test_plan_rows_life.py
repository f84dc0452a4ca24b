"""The table of the issue "A PodGroup that stays true", row by row, on pure code: the world after each step.

Every step settles the world (passes until nothing changes) and the world itself checks that nothing forbidden is done
on the way. Left out: what a scheduler does with it (integration), single policies (their own files).
"""

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.changes import ApplyPodGroup, DeletePod
from lws_volcano.mapping.snapshot import Capabilities
from tests.unit.mapping.builders import (
    HASH,
    OPTED_IN,
    at,
    group,
    group_template,
    lws,
    namespace,
    pod,
    pod_group,
    queue,
    revision,
    template,
)
from tests.unit.mapping.world import World

NEW = "5c9d7bb8f4"
GATE = names.MINIMUM_GATE
FULL = (4, {"leader": 1, "worker": 3})
FIRST = (1, {"leader": 1})


def name(index="0", hash_=HASH, of="demo"):
    """Name of a PodGroup."""
    return f"{of}-{index}-{hash_}"


def world(owner=None, *pods, revisions=None, **surroundings):
    """A world with the revision of the LWS's template."""
    owner = owner or lws()
    settings = surroundings.pop("settings", Settings())
    made = World(owner, surroundings=surroundings, settings=settings)
    live = owner.spec.leader_worker_template.manifest()
    made.put(*(revisions or [revision(owner, live)]), *pods)
    return made


def leader_ready(**more):
    """An LWS whose workers come after their leader."""
    return lws(startupPolicy="LeaderReady", **more)


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
    here.put(pod("0", node="n1", created=-100, uid="second"), *(pod("0", r, created=-90) for r in (1, 2, 3)))
    found = here.settle()
    assert found.condition.reason is Reason.STRANDED
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


# --- row 8: sub-groups


@pytest.mark.parametrize(
    ("size", "policy", "count"),
    [
        (9, {"subGroupSize": 4}, 2),
        (8, {"subGroupSize": 4}, 2),
        (9, {"subGroupSize": 4, "subGroupPolicyType": "LeaderExcluded"}, 2),
    ],
)
def test_row_8_sub_groups_become_a_sub_group_policy(size, policy, count):
    """MatchLabelKeys on LWS's own label; the uneven leader adds no sub-group."""
    here = world(lws(groups=group_template(size, subGroupPolicy=policy)), pod("0"))
    here.settle()
    (found,) = here.spec(name())["subGroupPolicy"]
    assert found["matchLabelKeys"] == [names.SUBGROUP_INDEX]
    assert (found["subGroupSize"], found["minSubGroups"]) == (4, count)


@pytest.mark.parametrize(
    ("size", "policy"),
    [(6, {"subGroupSize": 4}), (8, {"subGroupSize": 4, "subGroupPolicyType": "LeaderExcluded"})],
)
def test_row_8_sizes_that_do_not_divide_are_refused(size, policy):
    """No PodGroup, one condition, no more to do."""
    here = world(lws(groups=group_template(size, subGroupPolicy=policy)), pod("0"))
    found = here.settle()
    assert not here.pod_groups
    assert found.condition.reason is Reason.INVALID_SUBGROUP
    assert "divisible by subGroupSize" in found.condition.message


def test_row_8_an_old_crd_gets_a_pod_group_without_the_field():
    """And a condition that says so."""
    here = world(
        lws(groups=group_template(9, subGroupPolicy={"subGroupSize": 4})),
        pod("0"),
        capabilities=Capabilities(sub_groups=False),
    )
    found = here.settle()
    assert "subGroupPolicy" not in here.spec(name())
    assert found.condition.reason is Reason.UNSUPPORTED_BY_VOLCANO


# --- row 9: standing down


@pytest.mark.parametrize("replicas", [1, 3])
def test_row_9_a_group_name_of_the_users_own_makes_us_stand_down(replicas):
    """With more than one group it is said that they would share one PodGroup."""
    own = template({names.GROUP_NAME: "mine"})
    here = world(
        lws(replicas=replicas, groups=group_template(4, own)),
        pod("0", joined=False, annotations={names.GROUP_NAME: "mine"}),
    )
    found = here.settle()
    assert not here.writes
    assert found.condition.reason is Reason.STOOD_DOWN
    assert ("share this one PodGroup" in found.condition.message) == (replicas > 1)
    assert [notice.reason for notice in found.notices] == [Reason.STOOD_DOWN]


def test_row_9_spec_scheduling_makes_us_stand_down():
    """LWS's typed gang API owns the gang."""
    here = world(lws(scheduling={"gang": {}}), pod("0"))
    found = here.settle()
    assert not here.writes
    assert found.condition.reason is Reason.STOOD_DOWN


def test_row_9_lws_own_provider_makes_us_stand_down():
    """Its PodGroups belong to the leader pod."""
    theirs = pod_group(
        metadata={"ownerReferences": [{"kind": "Pod", "name": "demo-0", "uid": "x", "controller": True}]}
    )
    here = world(lws(), theirs, pod("0"))
    found = here.settle()
    assert not here.writes
    assert found.condition.reason is Reason.STOOD_DOWN


# --- row 10: somebody else's hands


@pytest.mark.parametrize(
    "patch",
    [
        {"minMember": 2},
        {"minTaskMember": {"leader": 1, "worker": 3, "extra": 1}},
        {"minResources": {"cpu": "4", "nvidia.com/gpu": "8"}},
        {"minResources": {"cpu": "nonsense"}},
        {"queue": "other"},
        {"priorityClassName": "high"},
        {"networkTopology": {"mode": "hard", "highestTierName": "rack"}},
        {"subGroupPolicy": [{"name": "x"}]},
    ],
    ids=lambda patch: next(iter(patch)),
)
def test_row_10_an_edit_of_our_fields_is_put_right_with_one_write(patch):
    """Foreign keys that change the meaning of ours go too."""
    here = world(lws(), *group())
    here.settle()
    right = here.numbers(), dict(here.spec(name()))
    here.pod_groups[name()]["spec"] = {**here.spec(name()), **patch}
    writes = len(here.writes)
    here.settle()
    assert (here.numbers(), here.spec(name())) == right
    assert len(here.writes) == writes + 1


def test_row_10_other_spellings_of_a_number_and_keys_of_others_are_left_alone():
    """4000m is 4; a label and the scheduler's annotation are not ours."""
    here = world(lws(), *group())
    here.settle()
    here.spec(name())["minResources"] = {"cpu": "4000m"}
    here.pod_groups[name()]["metadata"]["annotations"] = {"volcano.sh/something": "of the scheduler"}
    here.pod_groups[name()]["metadata"]["labels"]["team"] = "a"
    assert not here.once().changes


def test_row_10_a_deleted_pod_group_comes_back():
    """While its group has pods."""
    here = world(lws(), *group(node="n1"))
    here.settle()
    here.pod_groups.clear()
    here.settle()
    assert here.numbers() == {name(): FULL}


def test_row_10_a_stranger_is_reported_and_not_adopted():
    """It stays as it is, and the condition says whose it is."""
    here = world(lws(), pod_group(), *group())
    found = here.settle()
    assert not here.writes
    assert found.condition.reason is Reason.NAME_TAKEN
    assert found.blocked == (name(),)


def test_row_10_a_pod_group_that_the_user_hung_on_the_lws_is_not_deleted():
    """The owner alone does not make it ours to delete."""
    owner = lws()
    here = world(owner, pod_group("mine", owner=owner, metadata={"labels": {}}), *group())
    here.settle()
    assert "mine" in here.pod_groups


# --- rows 11 to 15


def test_row_11_a_group_index_is_a_string():
    """Names are right and the order is stable for indices that are no numbers."""
    here = world(lws(replicas=3), pod("alpha"), pod("10"), pod("9"))
    found = here.settle()
    assert set(here.numbers()) == {name("alpha"), name("10"), name("9")}
    assert [row.group for row in found.groups] == ["9", "10", "alpha"]


def test_row_11_two_lws_of_one_name_are_told_apart_by_their_namespace():
    """Each writes into its own namespace, for itself."""
    for where in ("a", "b"):
        here = world(lws(namespace=where), *group(namespace=where))
        here.settle()
        metadata = here.pod_groups[name()]["metadata"]
        assert metadata["namespace"] == where
        assert metadata["ownerReferences"][0]["uid"] == f"uid-of-{where}-demo"


def test_row_11_a_thousand_groups_have_a_thousand_pod_groups():
    """In order of their index, each once, and a second pass finds nothing to do."""
    here = world(lws(replicas=1000), *(pod(str(index)) for index in range(1000)))
    found = here.once()
    assert [change.name for change in found.changes] == [name(str(index)) for index in range(1000)]
    assert not here.once().changes


def test_row_12_a_closed_queue_holds_back_and_an_open_one_lets_go():
    """Condition with the reason; nothing written meanwhile; recovery by looking again."""
    owner = lws(annotations={**OPTED_IN, names.QUEUE_NAME: "q"})
    here = world(owner, pod("0"), queues={})
    assert here.settle().condition.reason is Reason.QUEUE_NOT_FOUND
    here.surroundings["queues"] = {"q": queue("q", "Closed")}
    found = here.settle()
    assert found.condition.reason is Reason.QUEUE_NOT_OPEN
    assert not here.writes
    here.surroundings["queues"] = {"q": queue("q")}
    here.settle()
    assert here.spec(name())["queue"] == "q"
    here.surroundings["queues"] = {"q": queue("q", "Closing")}
    here.settle()
    assert here.spec(name())["queue"] == "q"


def test_row_12_a_new_queue_on_a_live_lws_is_taken_over_once_it_is_open():
    """Until then the PodGroup stays in the queue it has."""
    here = world(lws(), pod("0"), queues={"b": queue("b", "Closed")})
    here.settle()
    here.lws = lws(annotations={**OPTED_IN, names.QUEUE_NAME: "b"})
    assert here.settle().condition.reason is Reason.QUEUE_NOT_OPEN
    assert here.spec(name())["queue"] == "default"
    here.surroundings["queues"] = {"b": queue("b")}
    here.settle()
    assert here.spec(name())["queue"] == "b"


def test_row_12_different_priority_classes_are_reported():
    """The PodGroup comes without one."""
    groups = group_template(4, template(priorityClassName="low"), template(priorityClassName="high"))
    here = world(lws(groups=groups), pod("0"))
    found = here.settle()
    assert found.condition.reason is Reason.PRIORITY_CLASS_CONFLICT
    assert "priorityClassName" not in here.spec(name())


def test_row_12_the_namespace_gives_the_queue_where_nobody_else_does():
    """LWS, then template, then namespace."""
    here = world(lws(), pod("0"), namespace=namespace(**{names.QUEUE_NAME: "ours"}))
    here.settle()
    assert here.spec(name())["queue"] == "ours"


def test_row_13_the_status_says_who_gates():
    """Gates of others are named, counted, and left on."""
    here = world(lws(), pod("0"), *(pod("0", rank, gates=["kueue.x-k8s.io/admission"]) for rank in (1, 2, 3)))
    found = here.settle()
    assert found.condition.reason is Reason.GATED
    assert "kueue.x-k8s.io/admission (3 pods)" in found.groups[0].message
    assert here.pods["demo-0-1"].spec.scheduling_gates


def test_row_13_a_pod_that_the_user_placed_counts_as_placed():
    """NodeName from the start is a node like any other."""
    here = world(lws(), *group(node="n1", phase="Pending"))
    found = here.settle()
    assert found.condition.status
    assert [row.placed for row in found.groups] == [4]


@pytest.mark.parametrize("where", ["template", "namespace"])
def test_row_14_children_of_another_owner_are_opted_in_by_template_or_namespace(where):
    """What reaches an LWS that another controller makes is its pod templates, and its namespace."""
    own = template(OPTED_IN) if where == "template" else template()
    here = world(
        lws(annotations={}, groups=group_template(4, own)),
        pod("0"),
        namespace=namespace(**(OPTED_IN if where == "namespace" else {})),
    )
    here.settle()
    assert here.numbers() == {name(): FULL}


def test_row_15_scaling_is_an_edit_like_any_other():
    """The groups are those with pods, whoever changed replicas."""
    here = world(lws(replicas=1), pod("0"))
    here.settle()
    here.lws = lws(replicas=3)
    here.put(pod("1"), pod("2"))
    here.settle()
    assert set(here.numbers()) == {name("0"), name("1"), name("2")}
