"""Cases from the field and the rules that they taught.

Covers: leader and workers looked at together, nodes nobody knows about, a lost leader, groups on one node, sub-groups,
exclusive domains, scope workers, placement groups, clusters without a topology, reasons. Optimality is in
`test_optimum`, what always holds in `test_invariants`.
"""

from dataclasses import replace

import pytest

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import SubGroups
from lws_volcano.placement.explain import explain
from lws_volcano.placement.hints import leader_hints
from lws_volcano.placement.planner import plan_group, plan_groups
from tests.unit.placement.builders import capacity, group, node, pod, shape

TWO_RACKS = {"s1": {"r1": {f"n{i}": 1 for i in range(1, 5)}, "r2": {f"n{i}": 1 for i in range(5, 9)}}}
"""Two racks of four nodes with one GPU each."""


def test_leader_and_workers_fit_only_one_way() -> None:
    """kueue#7446: free 2, 4, 3; leader 1, four workers of 2: only with the leader beside one worker on n3."""
    plan = plan_group(
        group(5, shape(2), shape(1), mode="hard", highest_tier=1), capacity({"r1": {"n1": 2, "n2": 4, "n3": 3}})
    )
    assert sorted(plan.nodes.values()) == ["n1", "n2", "n2", "n3", "n3"]
    assert plan.nodes[0] == "n3"


def test_leader_and_workers_do_not_fit_although_the_sum_does() -> None:
    """kueue#7446, variant 3, 3, 3: the reason says that three workers fit beside a leader."""
    plan = plan_group(
        group(5, shape(2), shape(1), mode="hard", highest_tier=1), capacity({"r1": {"n1": 3, "n2": 3, "n3": 3}})
    )
    assert not plan.feasible
    assert "a leader and 3 of 4 workers" in plan.reason
    assert "r1" in plan.reason


def test_nodes_without_a_domain_are_the_last_choice() -> None:
    """NeMo-RL#2924: a pair goes to the rack; four need strangers, and nobody claims that those are near each other."""
    room = capacity({"r1": {"n1": 1, "n2": 1}}, loose={f"n{i}": 1 for i in range(3, 7)})
    assert set(plan_group(group(2, mode="soft"), room).nodes.values()) == {"n1", "n2"}
    wide = plan_group(group(4, mode="soft"), room)
    assert {"n1", "n2"} < set(wide.nodes.values())
    assert wide.domain is None
    assert wide.quality is not None
    assert wide.quality.highest_tier == 2
    assert wide.quality.domains == {"rack": 3}
    assert not plan_group(group(4, mode="hard", highest_tier=1), room).feasible


def test_a_lost_leader_comes_back_beside_its_workers() -> None:
    """vllm#32136 (b): the workers run on in r2; the new leader is planned there although r1 is fuller."""
    room = capacity(TWO_RACKS)
    room.bind(pod("other", "n1"))
    room.bind(pod("w1", "n5"))
    room.bind(pod("w2", "n6"))
    plan = plan_group(group(3, bound={1: "n5", 2: "n6"}), room)
    assert plan.nodes == {0: "n7", 1: "n5", 2: "n6"}
    assert [p.bound for p in plan.pods] == [False, True, True]


def test_a_lost_worker_gets_the_nearest_free_node() -> None:
    """Its rack is full: another rack of the spine, not another spine."""
    room = capacity({"s1": {"r1": {"n1": 1, "n2": 1}, "r2": {"n3": 1}}, "s2": {"r3": {"n4": 1, "n5": 1}}})
    room.feed(pods=[pod("a", "n1"), pod("b", "n2")])
    assert plan_group(group(3, bound={0: "n1", 1: "n2"}), room).nodes[2] == "n3"


def test_members_on_nodes_that_nobody_knows() -> None:
    """A pod may be seen before its node: the others are planned, and nothing is near a stranger."""
    plan = plan_group(group(3, bound={0: "stranger"}), capacity(TWO_RACKS))
    assert plan.nodes[0] == "stranger"
    assert plan.domain is None
    assert not plan_group(group(3, mode="hard", highest_tier=1, bound={0: "ghost"}), capacity(TWO_RACKS)).feasible
    assert plan_group(group(1, bound={0: "n1"}), capacity(TWO_RACKS)).nodes == {0: "n1"}


def test_fullest_rack_that_still_fits() -> None:
    """Whole racks are kept whole."""
    room = capacity(TWO_RACKS)
    room.bind(pod("other", "n6"))
    plan = plan_group(group(3), room)
    assert plan.domain is not None
    assert plan.domain.name == "r2"
    assert [one.domain for one in plan.alternatives] == ["r2", "r1"]


def test_a_group_on_one_node_takes_the_fullest_rack_first() -> None:
    """The rack with fewer free slots wins over the node with fewer."""
    room = capacity({"s1": {"r1": {"n1": 4, "n2": 8}, "r2": {"n3": 5, "n4": 1}}})
    plan = plan_group(group(4), room)
    assert set(plan.nodes.values()) == {"n3"}
    assert plan.quality is not None
    assert plan.quality.highest_tier == 0
    assert plan.domain is not None
    assert plan.domain.name == "r2"


def test_sub_groups_sit_each_in_one_rack() -> None:
    """Nine pods, sub-groups of four: the leader makes five in one rack, four in another."""
    tree = {"s1": {"r1": {f"a{i}": 1 for i in range(6)}, "r2": {f"b{i}": 1 for i in range(5)}}}
    sub = SubGroups(4, 2, 4, leader_inside=True)
    nodes = plan_group(group(9, sub_groups=sub, sub_group_tier=1), capacity(tree)).nodes
    first = {nodes[rank][0] for rank in range(9) if sub.index(rank) == 0}
    second = {nodes[rank][0] for rank in range(9) if sub.index(rank) == 1}
    assert len(first) == len(second) == 1
    assert first != second


def test_sub_groups_that_fit_nowhere_whole_are_refused() -> None:
    """Three and three free slots do not hold two sub-groups of two and a lone leader's four."""
    tree = {"s1": {"r1": {f"a{i}": 1 for i in range(3)}, "r2": {f"b{i}": 1 for i in range(2)}, "r3": {"c": 1}}}
    sub = SubGroups(3, 2, 2, leader_inside=True)
    plan = plan_group(group(6, mode="hard", highest_tier=2, sub_groups=sub, sub_group_tier=1), capacity(tree))
    assert not plan.feasible
    assert "sub-group" in plan.reason


def test_exclusive_topology_shuns_other_groups() -> None:
    """A rack with a pod of another group of the namespace is out; its own pods are no strangers."""
    room = Capacity(capacity(TWO_RACKS).topology)
    room.feed(node(f"n{i}", 2, labels={"rack": "r1" if i < 5 else "r2"}) for i in range(1, 9))
    labels = {"leaderworkerset.sigs.k8s.io/group-key": "other"}
    room.bind(pod("stranger", "n5", labels=labels))
    plan = plan_group(group(3, shape(2), exclusive_key="rack"), room)
    assert plan.domain is not None
    assert plan.domain.name == "r1"
    room.bind(pod("another", "n1", labels=labels))
    refused = plan_group(group(3, shape(2), exclusive_key="rack"), room)
    assert not refused.feasible
    assert "exclusive" in refused.reason


def test_other_groups_keep_away_from_an_exclusive_one() -> None:
    """Its anti-affinity keeps every group of the namespace out of its rack, planned or bound; other namespaces not."""
    room = Capacity(capacity(TWO_RACKS).topology)
    room.feed(node(f"n{i}", 2, labels={"rack": "r1" if i < 5 else "r2"}) for i in range(1, 9))
    alone = group(2, exclusive_key="rack", name="alone")
    room.reserve(alone, plan_group(alone, room).nodes)
    plan = plan_group(group(3, mode="hard", highest_tier=1, placement="required"), room)
    assert [one.path[-1] for one in plan.pods] == ["r2"] * 3
    assert leader_hints(plan, room).required[0]["values"] == ["n5", "n6", "n7", "n8"]
    refused = plan_group(group(9, mode="soft"), room)
    assert not refused.feasible
    assert "3 nodes with room belong to groups of the namespace with exclusive topology" in refused.reason
    room.release(alone.key)
    leader = {"leaderworkerset.sigs.k8s.io/group-key": "k", "leaderworkerset.sigs.k8s.io/worker-index": "0"}
    said = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack", "scheduling.k8s.io/group-name": "alone"}
    room.bind(pod("alone-0", "n8", labels=leader, annotations=said))
    assert {one.path[-1] for one in plan_group(group(3), room).pods} == {"r1"}
    assert plan_group(replace(group(15), namespace="other", key="other/demo"), room).feasible
    room.unbind("uid-alone-0")
    assert plan_group(group(16), room).feasible


def test_exclusive_sub_groups_share_no_rack() -> None:
    """Room for both sub-groups in either rack, but each has one to itself; a third one has none."""
    room = Capacity(capacity(TWO_RACKS).topology)
    room.feed(node(f"n{i}", 2, labels={"rack": "r1" if i < 5 else "r2"}) for i in range(1, 9))
    rules = {"sub_group_exclusive_key": "rack"}
    plan = plan_group(group(4, sub_groups=SubGroups(2, 2, 1, leader_inside=True), **rules), room)
    assert [one.path[-1] for one in plan.pods] == ["r1", "r1", "r2", "r2"]
    assert not plan_group(group(6, sub_groups=SubGroups(2, 3, 1, leader_inside=True), **rules), room).feasible


def test_scope_workers_lets_the_leader_sit_outside() -> None:
    """Four workers fill a rack; the leader goes next door, and the tier spanned says so."""
    room = capacity(TWO_RACKS)
    assert not plan_group(group(5, mode="hard", highest_tier=1), room).feasible
    plan = plan_group(group(5, mode="hard", highest_tier=1, scope="workers"), room)
    assert plan.nodes[0] == "n1"
    assert {plan.nodes[rank] for rank in range(1, 5)} == {"n5", "n6", "n7", "n8"}
    assert plan.quality is not None
    assert plan.quality.highest_tier == 2


def test_groups_of_a_placement_group_are_planned_near_each_other() -> None:
    """Prefill and decode want one spine: the first goes where the second fits as well."""
    tree = {"s1": {"r1": {"a1": 1, "a2": 1}}, "s2": {"r2": {"b1": 1, "b2": 1, "b3": 1}, "r3": {"c1": 1, "c2": 1}}}
    rules = {"placement_group": "chat", "placement_group_tier": 2}
    prefill, decode = plan_groups([group(2, name="p", **rules), group(3, name="d", **rules)], capacity(tree))
    assert {one.path[0] for one in (*prefill.pods, *decode.pods)} == {"s2"}
    assert prefill.within == "s2"
    assert {one.path[0] for one in plan_group(group(2), capacity(tree)).pods} == {"s1"}


def test_what_was_tried_for_a_placement_group_leaves_no_trace() -> None:
    """The first is planned for what is free, not for what was left in the last trial."""
    tree = {"s1": {"r1": {"a1": 1, "a2": 1}, "r2": {"b1": 1, "b2": 1, "b3": 1, "b4": 1}}}
    rules = {"placement_group": "chat", "mode": "hard", "highest_tier": 1}
    prefill, decode = plan_groups([group(2, name="p", **rules), group(4, name="d", **rules)], capacity(tree))
    assert [one.domain.name for one in (prefill, decode) if one.domain] == ["r1", "r2"]


def test_hard_never_spans_two_trees_and_soft_only_when_nothing_else_fits() -> None:
    """Two roots with three nodes each."""
    room = capacity({"r1": {f"a{i}": 1 for i in range(3)}, "r2": {f"b{i}": 1 for i in range(3)}})
    assert plan_group(group(3, mode="soft"), room).domain is not None
    assert not plan_group(group(4, mode="hard"), room).feasible
    wide = plan_group(group(4, mode="soft"), room)
    assert wide.quality is not None
    assert wide.quality.highest_tier == 2


def test_without_a_topology_every_node_is_its_own_domain() -> None:
    """One node if one holds the group, else the fewest; nothing is said of distance."""
    room = capacity({}, loose={"n1": 8, "n2": 3, "n3": 2})
    assert set(plan_group(group(3), room).nodes.values()) == {"n2"}
    plan = plan_group(group(10), room)
    assert set(plan.nodes.values()) == {"n1", "n3"}
    assert plan.quality is not None
    assert plan.quality.highest_tier is None
    assert plan.pods[0].path == ()


def test_earlier_groups_take_and_hold_their_room() -> None:
    """Reservations count until released, and give way to the pods that they were made for."""
    room = capacity(TWO_RACKS)
    demand = group(4, mode="hard", highest_tier=1)
    plan = plan_group(demand, room)
    room.reserve(demand, plan.nodes)
    assert plan_group(demand, room).nodes == plan.nodes
    other = plan_group(group(4, name="other", mode="hard", highest_tier=1), room)
    assert set(other.nodes.values()).isdisjoint(plan.nodes.values())
    worker = {
        "labels": {"leaderworkerset.sigs.k8s.io/worker-index": "1"},
        "annotations": {"scheduling.k8s.io/group-name": "demo"},
    }
    room.bind(pod("demo-0-1", plan.nodes[2], **worker))
    assert 1 not in room.reserved("ns/demo")
    room.release("ns/demo")
    assert room.reservations() == ()
    assert room.room(plan.nodes[2]).slots(shape()) == 0
    assert room.room(plan.nodes[0]).slots(shape()) == 1


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({"unschedulable": True}, "cordoned"),
        ({"taints": [{"key": "gpu", "effect": "NoSchedule"}]}, "taint gpu"),
    ],
)
def test_reasons_name_what_is_in_the_way(spec: dict[str, object], word: str) -> None:
    """Excluded nodes are counted by reason."""
    room = Capacity(None).feed([node("n1", 8, **spec), node("n2", 0)])
    plan = plan_group(group(1), room)
    assert not plan.feasible
    assert word in plan.reason
    assert "example.com/gpu" in plan.reason


def test_explanation_has_a_word_on_every_domain() -> None:
    """The chosen rack, the emptier one, the one that is too small."""
    tree = {"s1": {"r1": {"n1": 1, "n2": 1}, "r2": {"n3": 1, "n4": 1, "n5": 1}, "r3": {"n6": 1}}}
    room = capacity(tree)
    explanation = explain(plan_group(group(2), room), room)
    why = {verdict.domain: verdict.why for verdict in explanation.verdicts}
    assert why["r1"].startswith("chosen")
    assert "emptier" in why["r2"]
    assert "leader and 0 of 1 workers" in why["r3"]
    assert len(list(explanation.lines())) == 4


def test_a_node_above_the_lowest_tier_is_alone_in_its_missing_rack() -> None:
    """Two nodes straight on a spine meet at the spine, in two racks that do not exist."""
    plan = plan_group(group(2), capacity({"s1": {"n1": 1, "n2": 1, "r1": {"n3": 0}}}))
    assert plan.quality is not None
    assert plan.quality.highest_tier == 2
    assert plan.quality.domains == {"rack": 2, "spine": 1}
    assert plan.quality.ring_cost == pytest.approx(2 / 50)


def test_workers_alone_on_a_node_above_the_tier() -> None:
    """Scope workers, hard at the rack: all workers on one node straight under the spine keep it; the leader is near."""
    room = capacity({"s1": {"r1": {"n1": 1, "n2": 1}, "big": 3}}, levels=2)
    plan = plan_group(group(4, shape(1), mode="hard", highest_tier=1, scope="workers"), room)
    assert plan.nodes == {0: "n1", 1: "big", 2: "big", 3: "big"}
    assert not plan_group(group(4, shape(1), mode="hard", highest_tier=1), room).feasible
