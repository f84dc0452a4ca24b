"""The order of HyperNode writes: a strict tree after every single write, and no write too many.

Covers plans on plain values. Left out: an API server that refuses or delays a write (integration).
"""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.api.volcano import HyperNode
from lws_volcano.topology.build import build
from lws_volcano.topology.hypernodes import DesiredHyperNode, desired_hypernodes
from lws_volcano.topology.membership import holds, same_content
from lws_volcano.topology.schema import ClusterTopology
from lws_volcano.topology.writes import Action, Write, order_writes
from tests.unit.topology.builders import document, domain, hypernode, node, trees

World = dict[str, HyperNode]


def desired(wanted: ClusterTopology) -> tuple[DesiredHyperNode, ...]:
    """Its HyperNodes."""
    return desired_hypernodes(build(wanted))


def world(wanted: ClusterTopology) -> World:
    """The HyperNodes of a document as they stand after they were written."""
    return {target.name: hypernode(target.manifest()) for target in desired(wanted)}


def assert_strict(state: World) -> None:
    """One parent each, members for all, nothing missing, tiers that rise."""
    holder: dict[tuple[str, str], str] = {}
    for name, found in state.items():
        held = holds(found, None)
        assert held, f"{name} is empty"
        for member in held:
            assert holder.setdefault(member, name) == name, f"{member} has two parents"
            kind, child = member
            if kind == "HyperNode":
                assert child in state, f"{name} names {child}, which does not exist"
                assert state[child].spec.tier < found.spec.tier


def apply(state: World, writes: list[Write]) -> None:
    """Make the writes one by one, looking after each."""
    for write in writes:
        if write.action is Action.DELETE:
            del state[write.name]
        else:
            assert (write.action is Action.CREATE) == (write.name not in state)
            assert write.manifest is not None
            state[write.name] = hypernode(dict(write.manifest))
        assert_strict(state)


def moved(before: ClusterTopology, after: ClusterTopology) -> list[Write]:
    """Writes from one document to another, checked on the way."""
    state = world(before)
    writes = order_writes(state.values(), desired(after))
    apply(state, writes)
    assert all(same_content(state[target.name], target) for target in desired(after))
    assert len(state) == len(desired(after))
    return writes


@settings(max_examples=80, deadline=None)
@given(trees(), trees())
def test_any_tree_to_any_other_stays_strict(before: ClusterTopology, after: ClusterTopology) -> None:
    """Between two unrelated trees every intermediate state is a strict tree, and the end is what was wanted."""
    writes = moved(before, after)
    assert max(Counter(write.name for write in writes).values(), default=0) <= 2


@settings(max_examples=40, deadline=None)
@given(trees())
def test_nothing_to_do_writes_nothing(wanted: ClusterTopology) -> None:
    """What is as it should be is left alone."""
    assert order_writes(world(wanted).values(), desired(wanted)) == []


@settings(max_examples=40, deadline=None)
@given(trees())
def test_first_write_and_removal_take_one_write_each(wanted: ClusterTopology) -> None:
    """From nothing, and back to nothing: one write a HyperNode."""
    state: World = {}
    apply(state, order_writes([], desired(wanted)))
    assert set(state) == {target.name for target in desired(wanted)}
    removal = order_writes(state.values(), [])
    assert len(removal) == len(state)
    apply(state, removal)
    assert state == {}


@settings(max_examples=80, deadline=None)
@given(trees(), st.dictionaries(st.sampled_from([f"dc1.d{i}" for i in range(6)]), st.integers(0, 9), max_size=3))
def test_a_tree_broken_by_hand_is_mended(wanted: ClusterTopology, tiers: dict[str, int]) -> None:
    """Whatever tiers somebody wrote into our HyperNodes, the plan ends and leads to what is wanted."""
    state = world(wanted)
    for name in tiers.keys() & state.keys():
        raw = state[name].manifest()
        raw["spec"]["tier"] = tiers[name]
        state[name] = hypernode(raw)
    for write in order_writes(state.values(), desired(wanted)):
        state[write.name] = hypernode(dict(write.manifest or {}))
    assert all(same_content(state[target.name], target) for target in desired(wanted))


def racks(first: str, second: str) -> ClusterTopology:
    """Two racks under a spine."""
    return document(
        [domain("spine", "spine"), domain("r1", "rack", first, "spine"), domain("r2", "rack", second, "spine")]
    )


def test_one_node_moved_is_two_writes() -> None:
    """The old rack first, then the new one, whatever their names."""
    forth = moved(racks("n[1-4]", "n[5-8]"), racks("n[1-3]", "n[4-8]"))
    back = moved(racks("n[1-3]", "n[4-8]"), racks("n[1-4]", "n[5-8]"))
    assert [write.name for write in forth] == ["dc1.r1", "dc1.r2"]
    assert [write.name for write in back] == ["dc1.r2", "dc1.r1"]


def test_one_node_added_is_one_write() -> None:
    """Only its rack is written."""
    assert [write.name for write in moved(racks("n[1-4]", "n[5-8]"), racks("n[1-4]", "n[5-9]"))] == ["dc1.r2"]


def test_racks_that_swap_nodes_need_one_write_more() -> None:
    """One of the two lets go first."""
    assert len(moved(racks("n[1-4]", "n[5-8]"), racks("n[1-3],n8", "n[4-7]"))) == 3


def test_racks_that_swap_all_their_nodes_pass_through_a_placeholder() -> None:
    """A HyperNode may not be empty, so the one that lets go holds a name that no node has."""
    writes = moved(racks("n1", "n2"), racks("n2", "n1"))
    assert len(writes) == 3
    assert "moving.lws-volcano.invalid" in str(writes[0].manifest)


def test_a_rack_moves_to_another_spine() -> None:
    """The old spine gives it up before the new one takes it."""
    spines = [domain("s1", "spine"), domain("s2", "spine"), domain("a", "rack", "n1", "s1")]
    before = document([*spines, domain("b", "rack", "n2", "s2"), domain("c", "rack", "n3", "s2")])
    after = document([*spines, domain("b", "rack", "n2", "s2"), domain("c", "rack", "n3", "s1")])
    assert [write.name for write in moved(before, after)] == ["dc1.s2", "dc1.s1"]


def test_a_tier_pushed_in_between() -> None:
    """All tier numbers above it rise, outermost first."""
    before = document([domain("core", 2, "", None), domain("r", 1, "n[1-2]", "core")], ["rack", "core"])
    tiers = ["rack", "spine", "core"]
    after = document([domain("core", 3), domain("s", 2, "", "core"), domain("r", 1, "n[1-2]", "s")], tiers)
    moved(before, after)
    moved(after, before)


def test_label_members_count_by_what_they_match() -> None:
    """A node that a label selector holds is held: it is not given to another HyperNode before."""
    cluster = [node("n1", rack="a"), node("n2", rack="a"), node("n3", rack="b")]
    by_label: dict[str, Any] = {"nodeSelector": {"matchLabels": {"rack": "a"}}}
    topology = build(document([domain("a", "rack", **by_label), domain("b", "rack", "n3")]), cluster)
    targets = desired_hypernodes(topology, exact_limit=1)
    selected = next(target for target in targets if target.name == "dc1.a")
    assert selected.manifest()["spec"]["members"] == [
        {"type": "Node", "selector": {"labelMatch": {"matchLabels": {"rack": "a"}}}}
    ]
    assert same_content(hypernode(selected.manifest()), selected)


def test_a_name_taken_by_a_stranger_is_avoided() -> None:
    """Our HyperNode gets another name, and its parent names that one."""
    topology = build(racks("n[1-4]", "n[5-8]"))
    targets = desired_hypernodes(topology, taken={"dc1.r1"})
    names = {target.name for target in targets}
    assert "dc1.r1" not in names
    assert len(names) == 3
    assert {name for target in targets if target.tier == 2 for _, name in target.members} < names
