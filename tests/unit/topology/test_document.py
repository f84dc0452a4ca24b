"""Topologies back to documents, to JSON, and several of them side by side."""

import json

from hypothesis import given, settings

from lws_volcano.topology.build import build
from lws_volcano.topology.document import describe, to_document
from lws_volcano.topology.file import parse_topologies
from lws_volcano.topology.merge import merge
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology
from tests.unit.topology.builders import document, domain, nodes, trees


def named(name: str, *entries: dict[str, object], cluster: str = "") -> Topology:
    """A topology of this name."""
    wanted = document(list(entries))
    metadata = wanted.metadata.model_copy(update={"name": name})
    return build(wanted.model_copy(update={"metadata": metadata}), nodes(*cluster.split()) if cluster else None)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_round_trip(wanted: ClusterTopology) -> None:
    """Document -> topology -> document -> file -> topology is the identity."""
    first = build(wanted)
    written = to_document(first)
    (source,) = parse_topologies(json.dumps(written.manifest()).encode(), "t.json")
    second = build(source.document)
    assert source.document == written
    assert to_document(second) == written
    fields = ("name", "tiers", "domains", "nodes", "domain_of", "across_bandwidth")
    assert [getattr(first, field) for field in fields] == [getattr(second, field) for field in fields]


def test_json_of_show() -> None:
    """The format of CONTRACTS section 4; a domain's nodes are all that are in it."""
    topology = build(
        document(
            [domain("s", "spine"), domain("r", "rack", "n[1-2]", "s")], ["rack", {"name": "spine", "latency": "2us"}]
        ),
        nodes("n1", "n2", "n3"),
    )
    assert describe(topology) == {
        "name": "dc1",
        "tiers": [
            {"tier": 1, "name": "rack", "bandwidthGBps": 100.0},
            {"tier": 2, "name": "spine", "bandwidthGBps": 50.0, "latencyMicroseconds": 2.0},
        ],
        "domains": [
            {"name": "s", "tier": 2, "parent": None, "nodes": ["n1", "n2"]},
            {"name": "r", "tier": 1, "parent": "s", "nodes": ["n1", "n2"]},
        ],
        "nodes": 2,
        "warnings": [
            "ClusterTopology dc1: 1 node is in no domain: n3; they are used last, and count as close to no other node"
        ],
    }


def test_side_by_side() -> None:
    """Trees are appended in the order of the names; places and parents are shifted; unplaced is what none has."""
    second = named("b", domain("s", "spine"), domain("r", "rack", "m[1-2]", "s"), cluster="m1 m2 n1 x")
    first = named("a", domain("q", "rack", "n1"), cluster="m1 m2 n1 x")
    both = merge([second, first])
    assert both.name == "a+b"
    assert both.nodes == ("n1", "m1", "m2")
    assert [(d.name, d.parent, d.lo, d.hi, d.topology) for d in both.domains] == [
        ("q", -1, 0, 1, "a"), ("s", -1, 1, 3, "b"), ("r", 1, 1, 3, "b"),
    ]  # fmt: skip
    assert both.unplaced == ("x",)
    assert [f.what for f in both.warnings if f.about == "unplaced"] == ["1 node is in no domain: x"]


def test_a_node_in_two_topologies_stays_with_the_first() -> None:
    """It has one place; the other topology is told."""
    both = merge([named("a", domain("q", "rack", "n[1-2]")), named("b", domain("q", "rack", "n[2-4]"))])
    assert both.nodes == ("n1", "n2", "n3", "n4")
    assert [both.members(i) for i in range(2)] == [("n1", "n2"), ("n3", "n4")]
    assert [d.name for d in both.domains] == ["a.q", "b.q"]
    assert "1 nodes are in ClusterTopology a and in b: n2" in str(both.warnings[-1])
