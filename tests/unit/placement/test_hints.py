"""Hints and their carrier, the annotation.

Covers which terms a pod gets (the window, the order, required lists, nothing), how they are merged into a pod, sizes,
and that every replica derives the same from the annotation. Left out: the window itself and the domains it covers
(test_window, test_landing), and what the real scheduler makes of hints (docs/hints.md).
"""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.api.errors import InputError
from lws_volcano.placement.demand import SubGroups
from lws_volcano.placement.hints import (
    PodHints,
    add_to_affinity,
    leader_hints,
    member_hints,
    order_hints,
    replacement_hints,
    task_priority,
)
from lws_volcano.placement.landing import landings
from lws_volcano.placement.order import ORDERED_NODES, order_for
from lws_volcano.placement.plan_format import group_entry, read_annotation, write_annotation
from lws_volcano.placement.planner import plan_group
from tests.unit.placement.builders import capacity, group, node, pod, shape

PLAN = "lws-volcano.io/plan"
HARD = {"mode": "hard", "highest_tier": 1}


def racks(count: int, nodes: int, gpus: int = 1) -> dict[str, Any]:
    """One spine of equal racks."""
    return {"s": {f"r{r}": {f"r{r}-n{i:03d}": gpus for i in range(nodes)} for r in range(count)}}


def score(terms: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> int:
    """Sum of the weights of the terms that match a node."""
    return sum(
        term["weight"]
        for term in terms
        if all(labels.get(e["key"]) in e["values"] for e in term["preference"]["matchExpressions"])
    )


def host(name: str) -> dict[str, str]:
    """Labels of a node."""
    return {"kubernetes.io/hostname": name}


def test_the_planned_node_of_the_rank_wins_in_every_candidate_domain() -> None:
    """And the planned domain before the others."""
    room = capacity(racks(3, 16))
    plan = plan_group(group(8, **HARD), room)
    note = read_annotation(leader_hints(plan, room).annotations[PLAN])
    for rank in range(8):
        terms = member_hints(note, rank, room.topology).preferred
        best = [max(room.node_names(), key=lambda name, terms=terms: score(terms, host(name)))]
        for alternative in plan.alternatives:
            names = [f"{alternative.domain}-n{i:03d}" for i in range(16)]
            best.append(max(names, key=lambda name, terms=terms: score(terms, host(name))))
        assert best == [plan.nodes[rank], *(alternative.nodes[rank] for alternative in plan.alternatives)]


@pytest.mark.parametrize("nodes", [1, 2, 5, 16, 33, 64, 100])
def test_the_order_falls_along_every_domain(nodes: int) -> None:
    """A rack that is too full for the group now: from its first node to its last, within the weights allowed."""
    room = capacity(racks(2, nodes))
    room.feed(pods=[pod(name, name) for name in ("r0-n000", "r1-n000")])
    terms = order_hints(plan_group(group(nodes, **HARD), room), room).preferred
    assert all(1 <= term["weight"] <= 100 for term in terms)
    for rack in ("r0", "r1"):
        scores = [score(terms, host(f"{rack}-n{i:03d}")) for i in range(nodes)]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores[:10])) == min(nodes, 10)


def test_an_order_is_never_longer_than_its_limit() -> None:
    """Whole racks while there is room; a single domain that is larger is not listed at all."""
    many = capacity(racks(40, 16))
    order = order_for(plan_group(group(4, **HARD), many), many)
    assert order is not None
    assert len(order.domains) == ORDERED_NODES // 16
    huge = capacity(racks(1, ORDERED_NODES + 1))
    assert order_for(plan_group(group(4, **HARD), huge), huge) is None


def test_without_a_constraint_one_domain_is_ordered() -> None:
    """Equal places in several would scatter the group."""
    room = capacity(racks(3, 4))
    order = order_for(plan_group(group(4), room), room)
    assert order is not None
    assert len(order.domains) == 1


def test_a_group_that_waits_still_gets_the_order() -> None:
    """Nothing fits now: the racks that could hold it are ordered, no node is planned, nothing is required."""
    room = capacity(racks(2, 4))
    for name in room.node_names()[1:]:
        room.bind(pod(f"on-{name}", name))
    plan = plan_group(group(4, **HARD), room)
    hints = leader_hints(plan, room)
    assert not plan.feasible
    assert not hints.required
    assert hints.preferred == order_hints(plan, room).preferred
    assert hints.preferred == member_hints(read_annotation(hints.annotations[PLAN]), 2, room.topology).preferred
    assert [score(hints.preferred, host(f"r0-n{i:03d}")) for i in range(4)] == [100, 22, 5, 1]


def test_a_cluster_too_large_to_be_looked_at_gets_no_preferences() -> None:
    """Neither leader nor workers, without network topology; unless the scheduler looks at all nodes."""
    room = capacity(racks(10, 30))
    plan = plan_group(group(4), room)
    hints = leader_hints(plan, room)
    assert hints.preferred == ()
    assert member_hints(read_annotation(hints.annotations[PLAN]), 1, room.topology) == PodHints()
    assert order_hints(plan, room) == PodHints()
    seen = leader_hints(plan, room, looks_at_all=True)
    assert seen.preferred
    assert member_hints(read_annotation(seen.annotations[PLAN]), 1, room.topology).preferred


def test_required_is_the_same_on_every_pod() -> None:
    """The nodes of the planned racks, not of the whole spine that the group spans."""
    room = capacity(racks(3, 4))
    plan = plan_group(group(6, placement="required", mode="hard", highest_tier=2), room)
    leader = leader_hints(plan, room)
    note = read_annotation(leader.annotations[PLAN])
    for rank in range(1, 6):
        assert member_hints(note, rank, room.topology).required == leader.required
    assert leader.required[0]["values"] == [f"r{r}-n{i:03d}" for r in range(2) for i in range(4)]


def test_company_is_kept_to_the_racks_planned_for_it() -> None:
    """Not to the whole spine, where it could take what a companion is kept to."""
    room = capacity(racks(3, 4))
    plan = plan_group(group(4, placement_group="chat", near=("r0-n000",), mode="soft"), room)
    assert plan.within == "r0"
    room.feed(pods=[pod("p", "r0-n001")])
    plan = plan_group(group(4, placement_group="chat", near=("r0-n000",), mode="soft"), room)
    assert plan.within == "s"
    assert leader_hints(plan, room).required[0]["values"] == [f"r1-n{place:03d}" for place in range(4)]


def test_sub_groups_that_are_placed_by_themselves_have_a_list_each() -> None:
    """The same on every pod of a sub-group; one list for all where the scheduler knows no sub-groups."""
    room = capacity(racks(3, 4))
    sub = SubGroups(size=4, count=2, first=3, leader_inside=True)
    plan = plan_group(group(8, placement="required", sub_groups=sub, mode="hard", highest_tier=2), room)
    apart = read_annotation(leader_hints(plan, room, sub_groups_apart=True).annotations[PLAN])
    lists = [member_hints(apart, rank, room.topology).required[0]["values"] for rank in range(8)]
    assert [{name[:2] for name in values} for values in lists] == [{"r0"}] * 4 + [{"r1"}] * 4
    note = read_annotation(leader_hints(plan, room).annotations[PLAN])
    together = [member_hints(note, rank, room.topology).required[0]["values"] for rank in range(8)]
    assert together == [together[0]] * 8
    assert len(together[0]) == 8


def test_a_leader_that_comes_first_keeps_to_domains_that_hold_the_group() -> None:
    """All of them, and the leader alone."""
    room = capacity(racks(3, 4))
    room.feed(pods=[pod("a", "r1-n000"), pod("b", "r1-n001")])
    plan = plan_group(group(3, leader_first=True, **HARD), room)
    hints = leader_hints(plan, room)
    assert {name[:2] for name in hints.required[0]["values"]} == {"r0", "r2"}
    note = read_annotation(hints.annotations[PLAN])
    assert member_hints(note, 1, room.topology).required == ()


def test_placement_none_adds_nothing() -> None:
    """Neither terms nor a plan."""
    room = capacity(racks(1, 4))
    assert leader_hints(plan_group(group(2, placement="none"), room), room) == PodHints()


def test_a_lost_member_is_drawn_to_the_others() -> None:
    """Its planned node, then the rack, then the spine."""
    room = capacity(racks(2, 4))
    room.feed(pods=[pod("a", "r1-n000"), pod("b", "r1-n001")])
    plan = plan_group(group(3, bound={1: "r1-n000", 2: "r1-n001"}, **HARD), room)
    terms = replacement_hints(plan, 0, room).preferred
    scores = {name: score(terms, host(name)) for name in room.node_names()}
    assert max(scores, key=scores.__getitem__) == "r1-n002"
    assert scores["r1-n003"] > scores["r0-n000"]
    assert leader_hints(plan, room).preferred == terms


def test_task_priority_is_one_above_the_pod_unless_the_user_set_it() -> None:
    """So that the leader is allocated first."""
    assert task_priority(None, {}) == {"volcano.sh/task-priority": "1"}
    assert task_priority(1000, {}) == {"volcano.sh/task-priority": "1001"}
    assert task_priority(5, {"volcano.sh/task-priority": "7"}) == {}


def test_the_users_own_terms_are_kept() -> None:
    """Preferred ones stay first; each required alternative is narrowed by ours."""
    own = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}],
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": ["f"]}, {"matchExpressions": ["e"]}]
            },
        },
        "podAffinity": {"kept": True},
    }
    ours = PodHints(preferred=({"weight": 2},), required=({"key": "k"},))
    merged = add_to_affinity(own, ours)
    assert merged["podAffinity"] == {"kept": True}
    node = merged["nodeAffinity"]
    assert [t["weight"] for t in node["preferredDuringSchedulingIgnoredDuringExecution"]] == [1, 2]
    assert node["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] == [
        {"matchFields": ["f"], "matchExpressions": [{"key": "k"}]},
        {"matchExpressions": ["e", {"key": "k"}]},
    ]
    assert add_to_affinity(None, PodHints()) == {}


@pytest.mark.parametrize("form", ["gpu-node-{:05d}", "ip-10-3-{:d}.eu-west-1.compute.internal"])
def test_annotations_and_terms_stay_small(form: str) -> None:
    """4 KB for a group of eight with thirty-two alternatives, however scattered the free nodes are."""
    names = [form.format(i) for i in range(40 * 16)]
    room = capacity({"spine-1": {f"rack-{r:02d}": dict.fromkeys(names[r * 16 : r * 16 + 16], 1) for r in range(40)}})
    empty = leader_hints(plan_group(group(8, **HARD), room), room)
    room.feed(pods=[pod(name, name) for name in random.Random(3).sample(names, 250)])
    for size, limit in ((8, 4096), (64, 12_000)):
        hints = leader_hints(plan_group(group(size, mode="soft"), room), room)
        assert len(hints.annotations[PLAN]) <= limit
        assert len(json.dumps(hints.preferred)) < 6500
    assert len(empty.annotations[PLAN]) <= 4096
    assert len(read_annotation(empty.annotations[PLAN]).landings) >= 24


@given(
    size=st.integers(1, 9),
    mode=st.sampled_from(["hard", "soft", "none"]),
    placement=st.sampled_from(["preferred", "required"]),
    count=st.integers(1, 4),
    taken=st.sets(st.integers(0, 11)),
    first=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_terms_are_what_kubernetes_takes(
    *, size: int, mode: str, placement: str, count: int, taken: set[int], first: bool
) -> None:
    """Existing host names, weights from 1 to 100, and under `preferred` nothing required but of a first leader."""
    room = capacity(racks(count, 3, 2))
    names = room.node_names()
    room.feed(pods=[pod(f"p{at}", names[at], gpus=2) for at in taken if at < len(names)])
    plan = plan_group(group(size, mode=mode, placement=placement, leader_first=first), room)
    leader = leader_hints(plan, room)
    note = read_annotation(leader.annotations[PLAN])
    for rank in range(size):
        hints = leader if rank == 0 else member_hints(note, rank, room.topology, room.hostname)
        listed = [*(term["preference"]["matchExpressions"][0] for term in hints.preferred), *hints.required]
        assert all(1 <= term["weight"] <= 100 for term in hints.preferred)
        assert all(each["key"] == "kubernetes.io/hostname" and each["operator"] == "In" for each in listed)
        assert all(each["values"] and set(each["values"]) <= set(names) for each in listed)
        if placement == "preferred" and not (first and rank == 0):
            assert hints.required == ()


def test_terms_list_the_host_name_label() -> None:
    """Which may differ from the node's name."""
    room = capacity(racks(1, 2))
    room.upsert_node(node("r0-n000", 1, labels={"kubernetes.io/hostname": "host-a"}))
    room.upsert_node(node("r0-n001", 1, labels={"kubernetes.io/hostname": "host-b"}))
    plan = plan_group(group(2, placement="required", **HARD), room)
    hints = leader_hints(plan, room)
    assert hints.preferred[0]["preference"]["matchExpressions"][0]["values"] == ["host-a"]
    assert hints.required[0]["values"] == ["host-a", "host-b"]


@given(size=st.integers(1, 9), mode=st.sampled_from(["hard", "soft", "none"]), count=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_annotations_read_back(size: int, mode: str, count: int) -> None:
    """What was planned is what every replica reads."""
    room = capacity(racks(count, 3, 2))
    plan = plan_group(group(size, shape(), mode=mode), room)
    found = landings(plan, room)
    text, written = write_annotation(plan, order=order_for(plan, room), landings=found, unseen=True)
    note = read_annotation(text)
    assert note == written
    assert note.feasible == plan.feasible
    assert note.nodes == tuple(p.node for p in plan.pods)
    assert note.landings == found
    assert note.order == order_for(plan, room)
    assert note.unseen
    entry = {**json.loads(text), "alternatives": None}
    assert {**group_entry(plan), "alternatives": None}.items() <= entry.items()


def test_what_is_cut_from_an_annotation_is_not_in_the_note_either() -> None:
    """The leader gets hints for the landings that its workers will read, and no others."""
    room = capacity(
        {f"rack-with-a-long-name-{rack}": {f"{rack}-{'n' * 90}-{i}": 1 for i in range(9)} for rack in range(30)}
    )
    plan = plan_group(group(9, **HARD), room)
    found = landings(plan, room)
    text, written = write_annotation(plan, landings=found)
    assert read_annotation(text) == written
    assert 0 < len(written.landings) < len(found)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"feasible":true}', '{"feasible":1,"pods":3,"domain":[]}'])
def test_foreign_annotations_are_refused_in_words(text: str) -> None:
    """Never another exception."""
    with pytest.raises(InputError, match="is not a plan"):
        read_annotation(text)
