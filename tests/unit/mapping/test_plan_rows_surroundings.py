"""The table of the issue "A PodGroup that stays true", rows 8 to 15, on pure code: what stands around a group.

Every step settles the world (passes until nothing changes) and the world itself checks that nothing forbidden is done
on the way. Left out: what a scheduler does with it (integration), single policies (their own files).
"""

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.mapping.snapshot import Capabilities
from tests.unit.mapping.builders import (
    OPTED_IN,
    group,
    group_template,
    lws,
    namespace,
    pod,
    pod_group,
    queue,
    template,
)
from tests.unit.mapping.rows import FULL, name, world

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
