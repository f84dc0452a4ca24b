"""Hints and their carrier, the annotation.

Covers what the terms say (orders fall along a domain, planned nodes win, required lists), how they are merged into a
pod, sizes, and that every replica derives the same from the annotation. What the real scheduler makes of them is
measured elsewhere (CONTRACTS.md section 5).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.api.errors import InputError
from lws_volcano.placement.hints import (
    PodHints,
    add_to_affinity,
    leader_hints,
    member_hints,
    replacement_hints,
    task_priority,
)
from lws_volcano.placement.order import LEVELS, Order, levels_of, order_for, place_labels
from lws_volcano.placement.plan_format import group_entry, read_annotation, write_annotation
from lws_volcano.placement.planner import plan_group
from tests.unit.placement.builders import capacity, group, pod, shape

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


@pytest.mark.parametrize("nodes", [1, 2, 5, 16, 33, 64, 100])
def test_the_order_falls_along_every_candidate_domain(nodes: int) -> None:
    """Strictly, from the first node of a rack to its last, within the weights that Kubernetes takes."""
    room = capacity(racks(2, nodes))
    plan = plan_group(group(nodes, **HARD), room)
    note = read_annotation(write_annotation(plan, order_for(plan, room)))
    terms = member_hints(note, nodes + 1, room.topology).preferred
    assert all(1 <= term["weight"] <= 100 for term in terms)
    for rack in ("r0", "r1"):
        scores = [score(terms, host(f"{rack}-n{i:03d}")) for i in range(nodes)]
        assert scores == sorted(set(scores), reverse=True)
        assert max(scores) < 100


def test_a_large_domain_has_a_hundred_levels() -> None:
    """Neighbours share one, none is out of order."""
    room = capacity({"big": {f"n{i:03d}": 1 for i in range(640)}})
    assert room.topology is not None
    levels = levels_of(room.topology, Order(1, ("big",)))
    values = [levels[name] for name in room.topology.nodes]
    assert values == sorted(values, reverse=True)
    assert set(values) == set(range(LEVELS))


def test_the_planned_node_of_the_rank_wins_in_every_candidate_domain() -> None:
    """Its weight is above all that the order gives."""
    room = capacity(racks(3, 16))
    plan = plan_group(group(8, **HARD), room)
    note = read_annotation(write_annotation(plan, order_for(plan, room)))
    for rank in range(8):
        terms = member_hints(note, rank, room.topology).preferred
        for alternative in plan.alternatives:
            names = [f"{alternative.domain}-n{i:03d}" for i in range(16)]
            assert max(names, key=lambda name: score(terms, host(name))) == alternative.nodes[rank]


def test_without_a_constraint_one_order_strings_the_domains_together() -> None:
    """No two racks share a level, the planned rack comes first, and only its node is mapped."""
    room = capacity(racks(3, 16))
    room.bind(pod("other", "r1-n003"))
    plan = plan_group(group(8, mode="none"), room)
    note = read_annotation(write_annotation(plan, order_for(plan, room)))
    terms = member_hints(note, 0, room.topology).preferred
    best = sorted(room.node_names(), key=lambda name: -score(terms, host(name)))
    assert {name[:2] for name in best[:16]} == {"r1"}
    assert len({score(terms, host(name)) for name in best[1:]}) == 47


def test_a_group_that_waits_still_gets_the_order() -> None:
    """Nothing fits now: the racks that could hold it are ordered, no node is planned, nothing is required."""
    room = capacity(racks(2, 4))
    for name in room.node_names()[1:]:
        room.bind(pod(f"on-{name}", name))
    plan = plan_group(group(4, **HARD), room)
    hints = leader_hints(plan, room)
    assert not plan.feasible
    assert not hints.required
    scores = [score(hints.preferred, host(f"r0-n{i:03d}")) for i in range(4)]
    assert scores == [9, 6, 3, 0]


def test_required_is_the_same_on_every_pod() -> None:
    """The nodes of the planned domain."""
    room = capacity(racks(2, 4))
    plan = plan_group(group(3, placement="required", **HARD), room)
    leader = leader_hints(plan, room)
    note = read_annotation(leader.annotations[PLAN])
    for rank in range(1, 3):
        assert member_hints(note, rank, room.topology).required == leader.required
    assert leader.required[0]["values"] == [f"r0-n{i:03d}" for i in range(4)]


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


def test_an_order_over_labels_is_small_and_says_the_same() -> None:
    """Host lists of 640 nodes against the label that holds the place."""
    room = capacity(racks(10, 64))
    assert room.topology is not None
    plan = plan_group(group(8, **HARD), room)
    note = read_annotation(write_annotation(plan, order_for(plan, room)))
    labels = place_labels(room.topology)
    by_host = member_hints(note, 99, room.topology).preferred
    by_label = member_hints(note, 99, room.topology, labels=True).preferred
    for name in room.topology.members(room.topology.index_of["r3"]):
        assert score(by_label, {**host(name), **labels[name]}) == score(by_host, host(name))
    assert len(json.dumps(by_label)) < 2000
    assert len(json.dumps(by_host)) < 24_000


def test_the_annotation_is_small() -> None:
    """A group of eight with thirty-two alternatives, and one of sixty-four."""
    room = capacity(racks(40, 16))
    for size in (8, 64):
        plan = plan_group(group(size, mode="soft"), room)
        assert len(write_annotation(plan, order_for(plan, room))) < 12_000


@given(size=st.integers(1, 9), mode=st.sampled_from(["hard", "soft", "none"]), count=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_annotations_read_back(size: int, mode: str, count: int) -> None:
    """What was planned is what every replica reads."""
    room = capacity(racks(count, 3, 2))
    plan = plan_group(group(size, shape(), mode=mode), room)
    order = order_for(plan, room)
    note = read_annotation(write_annotation(plan, order))
    assert note.feasible == plan.feasible
    assert note.nodes == tuple(p.node for p in plan.pods)
    assert note.alternatives == plan.alternatives
    assert note.order == order
    entry = json.loads(write_annotation(plan, order))
    assert group_entry(plan).items() <= entry.items()


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"feasible":true}', '{"feasible":1,"pods":3,"domain":[]}'])
def test_foreign_annotations_are_refused_in_words(text: str) -> None:
    """Never another exception."""
    with pytest.raises(InputError, match="is not a plan"):
        read_annotation(text)
