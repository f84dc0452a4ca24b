"""From documents and nodes to trees: what is refused, what is warned about, what `keep_going` saves, and the layout.

Left out: lines of files (test_file), domains from labels (test_labels), HyperNodes (test_hypernodes).
"""

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.topology.build import build
from lws_volcano.topology.findings import InvalidTopologyError
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology
from tests.unit.topology.builders import document, domain, graphs, node, nodes, refusal, sets, trees


def two_racks(first: str = "n[1-4]", second: str = "n[5-8]") -> ClusterTopology:
    """Two racks under a spine."""
    return document([domain("s", "spine"), domain("r1", "rack", first, "s"), domain("r2", "rack", second, "s")])


def test_places_and_domains() -> None:
    """Depth-first, contiguous, near domains beside each other."""
    topology = build(two_racks())
    assert topology.nodes == tuple(f"n{i}" for i in range(1, 9))
    assert [(d.name, d.tier, d.parent, d.lo, d.hi) for d in topology.domains] == [
        ("s", 2, -1, 0, 8), ("r1", 1, 0, 0, 4), ("r2", 1, 0, 4, 8),
    ]  # fmt: skip
    assert topology.path(topology.place_of["n5"]) == ("s", "r2")
    assert topology.domains[topology.meeting(0, 3)].name == "r1"
    assert topology.domains[topology.meeting(0, 4)].name == "s"
    assert topology.bandwidth_between(0, 1) == 100
    assert topology.bandwidth_between(0, 7) == 50


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([domain("a", "row", "n1")], "unknown tier 'row'"),
        ([domain("a", 7, "n1")], "unknown tier 7"),
        ([domain("a", "rack", "n1", "b")], "parent 'b', which is not a (sound) domain"),
        ([domain("a", "spine", parent="b"), domain("b", "spine", parent="a")], "circle: a -> b -> a"),
        ([domain("a", "spine", parent="a")], "circle: a -> a"),
        ([domain("a", "rack", "n[1-2]"), domain("b", "rack", "n[2-3]")], "n2 is in 2 domains: a (rack), b (rack)"),
        ([domain("a", "rack", "n1"), domain("b", "spine", "n1")], "n1 is in 2 domains"),
        (
            [domain("a", "rack", parent="b"), domain("b", "rack")],
            "of tier rack (1) has the parent 'b' of tier rack (1)",
        ),
        ([domain("a", "spine", parent="b"), domain("b", "rack")], "of tier spine (2) has the parent 'b'"),
        ([domain("a", "rack", "n1"), domain("a", "rack", "n2")], "'a' is defined twice, before at"),
        ([domain("a", "rack", "n[2-1]")], "reversed range"),
    ],
)
def test_refusals(entries: list[dict[str, object]], complaint: str) -> None:
    """Each fault is named, with its domain, its place and the way out."""
    (finding, *_) = refusal(document(entries))
    assert complaint in finding
    assert "spec.domains[" in finding
    assert "; " in finding


@pytest.mark.parametrize(
    ("tiers", "complaint"),
    [
        ([{"name": "a", "bandwidth": "10GB/s"}, {"name": "b", "bandwidth": "20GB/s"}], "rises with distance"),
        ([{"name": "a"}, {"name": "a"}], "'a' is there twice"),
        ([{"name": "a", "tier": 2}, {"name": "b"}], "both have the number 2"),
        ([{"name": "a", "bandwidth": "quick"}], "'quick' is not a rate"),
        ([{"name": "a", "latency": "soon"}], "'soon' is not a time"),
    ],
)
def test_tiers_that_are_refused(tiers: list[dict[str, object]], complaint: str) -> None:
    """Tiers have one name, one number, and bandwidth that falls."""
    assert any(complaint in finding for finding in refusal(document([], tiers)))


def test_bandwidths_left_out() -> None:
    """100 GB/s, then half of the tier below; across trees the lowest."""
    topology = build(document([domain("x", "c")], ["a", {"name": "b", "bandwidth": "30GB/s"}, "c", "d"]))
    assert [tier.bandwidth for tier in topology.tiers] == [100, 30, 15, Fraction(15, 2)]
    assert topology.across_bandwidth == Fraction(15, 2)


def test_across_bandwidth_must_not_be_above_the_tiers() -> None:
    """Trees apart are not closer than a spine."""
    assert "acrossBandwidth" in refusal(document([], across_bandwidth="200GB/s"))[0]
    assert build(document([], across_bandwidth="1GB/s")).across_bandwidth == 1


def test_keep_going_keeps_the_sound_rest() -> None:
    """A faulty rack is left out; a cycle above a sound rack costs the cycle only."""
    entries = [
        domain("a", "spine", parent="b"), domain("b", "spine", parent="a"), domain("leaf", "rack", "n[1-2]", "a"),
        domain("bad", "rack", "n[4-3]"), domain("good", "rack", "n[5-6]"),
    ]  # fmt: skip
    topology = build(document(entries), keep_going=True)
    assert sets(topology, 1) == [{"n5", "n6"}, {"n1", "n2"}]
    assert len(topology.roots) == 2
    assert len([f for f in topology.warnings if f.severity == "error"]) == 2


def test_a_disputed_node_gets_no_home() -> None:
    """Nobody can say which rack is right; the rest of both stays."""
    entries = [domain("a", "rack", "n[1-3]"), domain("b", "rack", "n[3-4]")]
    topology = build(document(entries), keep_going=True)
    assert sets(topology, 1) == [{"n1", "n2"}, {"n4"}]
    assert topology.unplaced == ("n3",)


def test_naming_a_node_on_the_spine_as_well_is_no_dispute() -> None:
    """The lower of two domains on one branch is its home."""
    topology = build(document([domain("s", "spine", "n[1-3]"), domain("r", "rack", "n[1-2]", "s")]))
    assert topology.path(topology.place_of["n1"]) == ("s", "r")
    assert topology.path(topology.place_of["n3"]) == ("s",)


def test_uneven_depth() -> None:
    """Two nodes straight on a spine meet at the spine, not in a rack that does not exist."""
    topology = build(document([domain("s", "spine", "x[1-2]"), domain("r", "rack", "n[1-2]", "s")]))
    first, second = topology.place_of["x1"], topology.place_of["x2"]
    assert topology.domains[topology.meeting(first, second)].name == "s"
    assert topology.bandwidth_between(first, second) == 50


def test_trees_apart() -> None:
    """Nodes of two trees meet nowhere."""
    topology = build(document([domain("a", "rack", "n1"), domain("b", "rack", "n2")], across_bandwidth="2GB/s"))
    assert topology.meeting(0, 1) == -1
    assert topology.tier_between(0, 1) is None
    assert topology.bandwidth_between(0, 1) == 2


def test_ignored_domains() -> None:
    """A storage switch that joins everything goes; what only it knows goes to the domain above it, or nowhere."""
    entries = [
        domain("storage", 3, "n[1-9]"), domain("s", "spine", parent="storage"),
        domain("r", "rack", "n[1-2]", "s"), domain("q", "rack", "n[3-4]", "s"),
    ]  # fmt: skip
    tiers = ["rack", "spine", "storage"]
    topology = build(document(entries, tiers, ignore=["storage", "nothing"]))
    assert [topology.domains[root].name for root in topology.roots] == ["s"]
    assert topology.unplaced == ("n5", "n6", "n7", "n8", "n9")
    assert any("no domain 'nothing' to ignore" in str(f) for f in topology.warnings)
    lower = build(document(entries, tiers, ignore=["q"]))
    assert lower.path(lower.place_of["n3"]) == ("storage", "s")


def test_overrides_decide() -> None:
    """They move nodes, take nodes out, and settle disputes."""
    entries = [domain("a", "rack", "n[1-3]"), domain("b", "rack", "n[3-4]")]
    overrides = [{"nodes": ["n3"], "domain": "b"}, {"nodes": ["n1"]}]
    topology = build(document(entries, overrides=overrides))
    assert sets(topology, 1) == [{"n2"}, {"n3", "n4"}]
    assert topology.unplaced == ("n1",)
    assert "which is not a (sound) domain" in refusal(document(entries, overrides=[{"nodes": "n9", "domain": "c"}]))[0]


def test_one_summary_for_unknown_nodes() -> None:
    """A file for the whole site: 984 unknown names are one warning; the node outside is named."""
    cluster = nodes(*(f"n{i:04d}" for i in range(1, 18)))
    entries = [domain("a", "rack", "n[0001-0010,0018-0500]"), domain("b", "rack", "n[0011-0016,0501-1000]")]
    topology = build(document(entries), cluster)
    assert len(topology.nodes) == 16
    assert topology.unplaced == ("n0017",)
    assert [str(f).partition(": ")[2] for f in topology.warnings] == [
        (
            "983 of 999 nodes in the document are not in the cluster: n0018, n0019, n0020 and 980 more; "
            "normal when the document covers more than this cluster"
        ),
        "1 node is in no domain: n0017; they are used last, and count as close to no other node",
    ]


def test_names_that_differ_in_case_are_pointed_out_not_matched() -> None:
    """NODE-4 is not node-4."""
    topology = build(document([domain("a", "rack", "node-[1-4]")]), nodes("node-1", "node-2", "node-3", "NODE-4"))
    assert sets(topology, 1) == [{"node-1", "node-2", "node-3"}]
    assert "node-4 differs from the node NODE-4 only in case" in str(topology.warnings[0])


def test_strip_domain() -> None:
    """Long names match short ones, either way round, only where asked for and unambiguous."""
    entries = [domain("a", "rack", "n[1-3].example.com")]
    plain = build(document(entries), nodes("n1", "n2.other.org", "n3.a", "n3.b"))
    assert plain.nodes == ()
    assert "set stripDomain" in str(plain.warnings[0])
    stripped = build(document(entries, strip_domain=True), nodes("n1", "n2.other.org", "n3.a", "n3.b"))
    assert stripped.nodes == ("n1", "n2.other.org")


def test_selectors() -> None:
    """Nodes by labels and expressions; a selector that matches nothing is said."""
    cluster = [node("n1", rack="a"), node("n2", rack="b"), node("n3", rack="c"), node("n4")]
    expressions = [{"key": "rack", "operator": "In", "values": ["a", "b"]}, {"key": "x", "operator": "DoesNotExist"}]
    entries = [
        domain("ab", "rack", nodeSelector={"matchExpressions": expressions}),
        domain("c", "rack", nodeSelector={"matchLabels": {"rack": "c"}}),
        domain("z", "rack", nodeSelector={"matchLabels": {"rack": "z"}}),
    ]
    topology = build(document(entries), cluster)
    assert sets(topology, 1) == [{"n1", "n2"}, {"n3"}]
    assert any("domain 'z' matches no node" in str(f) for f in topology.warnings)
    assert any("no nodes are known" in str(f) for f in build(document(entries)).warnings)


def test_an_empty_topology_is_no_error() -> None:
    """Scheduling goes on without it."""
    topology = build(document([]))
    assert topology.nodes == ()
    assert "the topology is empty" in str(topology.warnings[0])
    assert topology.top_tier == 0


def assert_sound(topology: Topology) -> None:
    """The invariants that everything else builds on."""
    assert len(set(topology.nodes)) == len(topology.nodes) == len(topology.domain_of)
    assert not set(topology.nodes) & set(topology.unplaced)
    assert len({d.name for d in topology.domains}) == len(topology.domains)
    for index, found in enumerate(topology.domains):
        assert found.parent < index
        if found.parent >= 0:
            parent = topology.domains[found.parent]
            assert parent.tier > found.tier
            assert parent.lo <= found.lo <= found.hi <= parent.hi
            assert topology.depth[index] == topology.depth[found.parent] + 1
        inside = [place for place, home in enumerate(topology.domain_of) if index in topology.ancestors(home)]
        assert inside == list(range(found.lo, found.hi))
    bandwidths = [tier.bandwidth for tier in topology.tiers]
    assert bandwidths == sorted(bandwidths, reverse=True)


@settings(max_examples=120, deadline=None)
@given(graphs())
def test_anything_is_a_strict_tree_or_a_refusal(anything: ClusterTopology) -> None:
    """Random documents never raise anything but a refusal, and what `keep_going` leaves is a strict tree."""
    try:
        assert_sound(build(anything))
    except InvalidTopologyError:
        refused = True
    else:
        refused = False
    kept = build(anything, keep_going=True)
    assert refused == any(f.severity == "error" for f in kept.warnings)
    tiers = [f for f in kept.warnings if "rises with distance" in f.what]
    if not tiers:
        assert_sound(kept)


@settings(max_examples=60, deadline=None)
@given(trees(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(wanted: ClusterTopology, chance: random.Random) -> None:
    """The same content gives the same arrays."""
    entries = list(wanted.spec.domains)
    chance.shuffle(entries)
    shuffled = wanted.model_copy(update={"spec": wanted.spec.model_copy(update={"domains": tuple(entries)})})
    first, second = build(wanted), build(shuffled)
    assert_sound(first)
    assert (first.nodes, first.domains, first.domain_of) == (second.nodes, second.domains, second.domain_of)


def test_deep_chains_do_not_hit_the_recursion_limit() -> None:
    """3,000 tiers above one another are silly, and fine."""
    count = 3000
    tiers = [f"t{i}" for i in range(count)]
    entries = [
        domain(f"d{i}", f"t{i}", "n1" if i == 0 else "", f"d{i + 1}" if i + 1 < count else None) for i in range(count)
    ]
    topology = build(document(entries, tiers))
    assert len(topology.path(0)) == count
