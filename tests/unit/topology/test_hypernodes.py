"""HyperNodes of a topology: even trees, names, labels. Left out: the order of writes (test_writes)."""

import re
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.topology.build import build
from lws_volcano.topology.hypernode_names import dns_safe, label_value, unique_names
from lws_volcano.topology.hypernodes import DesiredHyperNode, desired_hypernodes
from lws_volcano.topology.merge import merge
from lws_volcano.topology.schema import ClusterTopology
from tests.unit.topology.builders import document, domain, node, trees

DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def by_name(found: tuple[DesiredHyperNode, ...]) -> Mapping[str, DesiredHyperNode]:
    """HyperNodes by name."""
    return {hypernode.name: hypernode for hypernode in found}


def test_two_racks() -> None:
    """Racks first, then the spine that holds them; labels by which we know them."""
    spines = [domain("s", "spine"), domain("r1", "rack", "n[1-2]", "s"), domain("r2", "rack", "n3", "s")]
    found = desired_hypernodes(build(document(spines)))
    assert [hypernode.manifest() for hypernode in found][1:] == [
        {
            "apiVersion": "topology.volcano.sh/v1alpha1",
            "kind": "HyperNode",
            "metadata": {
                "name": name,
                "labels": {"volcano.sh/network-topology-source": "lws-volcano", "lws-volcano.io/topology": "dc1"},
            },
            "spec": {
                "tier": tier,
                "tierName": tier_name,
                "members": [{"type": kind, "selector": {"exactMatch": {"name": member}}} for kind, member in members],
            },
        }
        for name, tier, tier_name, members in [
            ("dc1.r2", 1, "rack", [("Node", "n3")]),
            ("dc1.s", 2, "spine", [("HyperNode", "dc1.r1"), ("HyperNode", "dc1.r2")]),
        ]
    ]


def test_nodes_straight_on_a_spine_are_padded_one_by_one() -> None:
    """They meet at the spine; a rack straight under the core gets a spine of its own."""
    entries = [
        domain("c", 3), domain("s", 2, "x[1-2]", "c"), domain("r", 1, "n[1-2]", "s"), domain("q", 1, "m1", "c"),
    ]  # fmt: skip
    found = by_name(desired_hypernodes(build(document(entries, ["rack", "spine", "core"]))))
    assert found["dc1.x1.tier-1"].members == (("Node", "x1"),)
    assert found["dc1.s"].members == tuple(("HyperNode", f"dc1.{m}") for m in ("r", "x1.tier-1", "x2.tier-1"))
    assert found["dc1.q.tier-2"].members == (("HyperNode", "dc1.q"),)
    assert found["dc1.c"].members == (("HyperNode", "dc1.q.tier-2"), ("HyperNode", "dc1.s"))


@settings(max_examples=80, deadline=None)
@given(trees())
def test_trees_are_even_strict_and_say_the_same(wanted: ClusterTopology) -> None:
    """Every node is below one HyperNode of each tier up to its root, and pairs meet at the tier of the model."""
    topology = build(wanted)
    found = desired_hypernodes(topology)
    parent: dict[tuple[str, str], DesiredHyperNode] = {}
    for hypernode in found:
        assert hypernode.members
        for member in hypernode.members:
            assert member not in parent
            parent[member] = hypernode
    chains: dict[str, list[DesiredHyperNode]] = {}
    for name in topology.nodes:
        chain = [parent["Node", name]]
        while above := parent.get(("HyperNode", chain[-1].name)):
            chain.append(above)
        chains[name] = chain
    used = sorted({d.tier for d in topology.domains if len(d)})
    for name, chain in chains.items():
        assert [hypernode.tier for hypernode in chain] == [tier for tier in used if tier <= chain[-1].tier]
        for other, others in chains.items():
            if other != name:
                shared = {hypernode.name for hypernode in chain} & {hypernode.name for hypernode in others}
                tier = topology.tier_between(topology.place_of[name], topology.place_of[other])
                lowest = min((h.tier for h in chain if h.name in shared), default=None)
                assert lowest == (None if tier is None else tier.number)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=300), max_size=6, unique=True))
def test_names_are_dns_safe_and_never_collide(names: list[str]) -> None:
    """Any text becomes a name that the API server takes; different texts stay different."""
    made = unique_names((name, name) for name in names)
    assert len(set(made)) == len(names)
    for name in made:
        assert DNS.fullmatch(name)
        assert len(name) <= 253


def test_names_are_kept_where_they_can_be() -> None:
    """A mark is added only to what had to be changed."""
    assert dns_safe("dc1.rack-1") == "dc1.rack-1"
    assert dns_safe("Rack 1").startswith("rack-1-")
    assert dns_safe("Rack 1") != dns_safe("rack 1")
    assert label_value("dc1") == "dc1"
    assert len(label_value("x" * 200)) <= 63


def test_long_lists_become_label_selectors_where_they_say_the_same() -> None:
    """Above the limit, and only with nodes known; below it nodes are listed."""
    cluster = [node(f"n{i}", rack="a") for i in range(5)] + [node("other", rack="b")]
    entry = domain("a", "rack", nodeSelector={"matchLabels": {"rack": "a"}})
    topology = build(document([entry]), cluster)
    assert desired_hypernodes(topology, exact_limit=5)[0].selector is None
    (long,) = desired_hypernodes(topology, exact_limit=4)
    assert long.manifest()["spec"]["members"][0]["selector"] == {"labelMatch": {"matchLabels": {"rack": "a"}}}
    moved = document([entry, domain("b", "rack", nodeSelector={"matchLabels": {"rack": "b"}})],
                     overrides=[{"nodes": ["n4"], "domain": "b"}])  # fmt: skip
    assert all(h.selector is None for h in desired_hypernodes(build(moved, cluster), exact_limit=1))


def test_names_stay_when_another_topology_comes() -> None:
    """A domain name used twice renames no HyperNode; a tier name that means two numbers is left out."""
    first = document([domain("r", "leaf", "n1")], ["leaf"])
    second = document([domain("r", "leaf", "m1")], ["nvlink", "leaf"]).model_copy(
        update={"metadata": first.metadata.model_copy(update={"name": "dc2"})}
    )
    alone = desired_hypernodes(build(first))
    both = desired_hypernodes(merge([build(first), build(second)]))
    assert {h.name for h in alone} <= {h.name for h in both} == {"dc1.r", "dc2.r"}
    assert {h.tier_name for h in both} == {""}
