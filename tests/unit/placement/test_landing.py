"""Where a group may land: which domains, in which order, with which nodes; and clusters too large to be looked at.

How full a domain is for the scheduler is checked against sums made anew. Left out: what terms follow (test_window).
"""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.fullness import Fullness
from lws_volcano.placement.landing import LANDINGS, landings, roomy_nodes, sampled
from lws_volcano.placement.planner import plan_group
from tests.unit.placement.builders import GPU, capacity, group, node, pod, shape

HARD = {"mode": "hard", "highest_tier": 1}
SPINE = {"mode": "hard", "highest_tier": 2}


def racks(count, nodes, gpus=1):
    """One spine of equal racks."""
    return {"s": {f"r{r}": {f"r{r}-n{i:03d}": gpus for i in range(nodes)} for r in range(count)}}


def planned(room, size, **rules):
    """Plan and landings."""
    plan = plan_group(group(size, **rules), room)
    return plan, landings(plan, room)


def test_all_domains_that_hold_the_group_the_planned_one_first():
    """The fullest that still fits is planned; a rack without room is no landing."""
    room = capacity(racks(4, 4))
    room.feed(pods=[pod("a", "r1-n000"), pod("b", "r2-n000"), pod("c", "r2-n001")])
    plan, found = planned(room, 3, **HARD)
    assert found[0].domain == plan.domain.name == "r1"
    assert found[0].nodes == ("r1-n001", "r1-n002", "r1-n003")
    assert {one.domain for one in found[1:]} == {"r0", "r3"}


def test_spares_are_free_nodes_of_the_racks_used_then_those_behind():
    """So that the ranks behind a lost node stay in order and near."""
    room = capacity({"s": {"r0": {"a1": 1, "a2": 0}, "r1": {"b1": 1, "b2": 1, "b3": 1}, "r2": {"c1": 1, "c2": 0}}})
    room.bind(pod("x", "b2"))
    _, (only,) = planned(room, 4, **SPINE)
    assert set(only.nodes) == {"a1", "b1", "b3", "c1"}
    assert only.spares == ()
    _, (only,) = planned(room, 3, **SPINE)
    assert len(only.spares) == 1
    room = capacity(racks(3, 4))
    _, (only,) = planned(room, 6, **SPINE)
    assert only.nodes == (*(f"r0-n{i:03d}" for i in range(4)), "r1-n000", "r1-n001")
    assert only.spares == ("r1-n002", "r1-n003", "r2-n000")


def test_a_group_for_one_node_may_land_on_several_nodes_of_another_rack():
    """The scheduler looks at racks, not at nodes: a rack where no node holds the whole group counts too."""
    room = capacity({"s": {"r0": {"a1": 4}, "r1": {"b1": 2, "b2": 2}}})
    _, found = planned(room, 4, **HARD)
    assert [one.domain for one in found] == ["r0", "r1"]
    assert found[1].nodes == ("b1", "b1", "b2", "b2")


def test_of_many_domains_those_that_the_scheduler_likes_best_are_kept():
    """By cpu and memory in use, though the planner counts free GPUs."""
    room = capacity(racks(60, 2))
    busy = [f"r{r}" for r in range(20, 55)]
    for name in busy:
        for n in range(2):
            taken = {"metadata": {"name": f"{name}-{n}", "namespace": "x", "uid": f"{name}-{n}"}}
            container = {"name": "c", "resources": {"requests": {"cpu": "16"}}}
            raw = {**taken, "spec": {"nodeName": f"{name}-n{n:03d}", "containers": [container]}}
            room.bind(type(pod("p")).parse(raw))
    asks = shape(1, requests={"cpu": "4"})
    plan = plan_group(group(2, asks, **HARD), room)
    found = landings(plan, room)
    assert len(found) == LANDINGS
    assert {one.domain for one in found[1:]} <= set(busy)


def test_what_the_group_holds_itself_counts_as_free():
    """A plan that was reserved just now lands where it was planned, and its nodes are no spares."""
    room = capacity(racks(2, 3))
    demand = group(3, **HARD)
    plan = plan_group(demand, room)
    before = landings(plan, room)
    room.reserve(demand, plan.nodes)
    assert landings(plan, room) == before
    assert room.reserved(demand.key) == plan.nodes


def test_a_domain_promised_to_another_group_is_a_landing():
    """Two groups that come together may change places, and each keeps its own plan."""
    room = capacity(racks(2, 3))
    first, second = group(3, name="first", **HARD), group(3, name="second", **HARD)
    plan = plan_group(first, room)
    room.reserve(first, plan.nodes)
    plan = plan_group(second, room)
    room.reserve(second, plan.nodes)
    found = landings(plan, room)
    assert [one.domain for one in found] == ["r1", "r0"]
    assert found[1].nodes == ("r0-n000", "r0-n001", "r0-n002")
    assert room.reservations() == ("ns/first", "ns/second")
    assert plan_group(group(3, name="third", **HARD), room).feasible is False


def test_a_leader_that_comes_first_is_given_nodes_with_room_for_it():
    """Of all domains that hold the whole group; cordoned and full nodes are left out."""
    room = capacity(racks(3, 4))
    room.upsert_node(node("r2-n003", 1, unschedulable=True))
    room.feed(pods=[pod("a", "r1-n000"), pod("b", "r1-n001"), pod("c", "r0-n000")])
    plan = plan_group(group(3, leader_first=True, **HARD), room)
    assert roomy_nodes(plan, room) == (
        "r0-n001", "r0-n002", "r0-n003", "r2-n000", "r2-n001", "r2-n002",
    )  # fmt: skip
    assert roomy_nodes(plan, room, alone=False) == ("r0-n001", "r0-n002", "r0-n003")


def test_a_large_cluster_without_topology_asked_for_is_sampled():
    """More free nodes than the scheduler looks at for a pod: 100, or half of 300 less a little."""
    room = capacity(racks(10, 30))
    assert sampled(plan_group(group(4), room), room)
    assert not sampled(plan_group(group(4, mode="soft"), room), room)
    assert not sampled(plan_group(group(4, placement="required"), room), room)
    for r in range(6):
        room.feed(pods=[pod(f"{r}-{i}", f"r{r}-n{i:03d}") for i in range(30)])
    assert not sampled(plan_group(group(4), room), room)


def test_a_small_cluster_is_seen_whole():
    """A hundred nodes are never too many."""
    room = capacity(racks(10, 10))
    assert not sampled(plan_group(group(4), room), room)


TREES = st.lists(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=4), max_size=3)


@given(TREES, st.integers(1, 8), st.sampled_from(["hard", "soft", "none"]), st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_landings_hold_the_group_and_spares_have_room(spines, size, mode, seed):
    """Never a node without room, never more pods on one than fit, spares apart from the nodes planned."""
    tree = {
        f"s{s}": {f"s{s}r{r}": {f"s{s}r{r}n{n}": gpus for n, gpus in enumerate(nodes)} for r, nodes in enumerate(parts)}
        for s, parts in enumerate(spines)
    }
    room = capacity(tree)
    names = list(room.node_names())
    random.Random(seed).shuffle(names)
    room.feed(pods=[pod(f"on-{name}", name) for name in names[: len(names) // 3]])
    plan = plan_group(group(size, mode=mode, highest_tier=2 if mode == "hard" else None), room)
    found = landings(plan, room)
    assert bool(found) == plan.feasible
    tally = room.tally(plan.demand.leader, plan.demand.worker)
    free = {name: tally.pairs[place][0] for name, place in room.forest.place_of.items()}
    for one in found:
        assert all(one.nodes.count(name) <= free[name] for name in one.nodes)
        assert len(one.nodes) == size
        assert all(free[name] > 0 for name in one.spares)
        assert not set(one.spares) & set(one.nodes)
    assert len({one.domain for one in found}) == len(found)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=20))
def test_fullness_follows_every_change(changes):
    """The same as summed anew."""
    room = capacity(racks(3, 2, 8))
    asked = {"cpu": 10**9, "memory": 0}
    room.fullness.of(0, asked)
    names = room.node_names()
    for index, (at, gone) in enumerate(changes):
        if gone:
            room.remove_node(names[at])
        else:
            room.upsert_node(node(names[at], allocatable={GPU: 8, "cpu": str(8 + index)}))
            container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
            meta = {"name": f"p{index}", "namespace": "x", "uid": f"u{index}"}
            spec = {"nodeName": names[at], "containers": [container]}
            room.bind(type(pod("p")).parse({"metadata": meta, "spec": spec}))
    anew = Fullness(room.forest, room.rooms)
    for domain in range(len(room.forest.domains)):
        assert room.fullness.of(domain, asked) == anew.of(domain, asked)
