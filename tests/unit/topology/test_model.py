"""The model: meetings against networkx, tiers by name, immutability."""

import dataclasses
import itertools

import networkx as nx
import pytest
from hypothesis import given, settings

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.build import build
from lws_volcano.topology.merge import merge
from lws_volcano.topology.schema import ClusterTopology
from tests.unit.topology.builders import document, domain, trees


@settings(max_examples=60, deadline=None)
@given(trees())
def test_meetings_are_lowest_common_ancestors(wanted: ClusterTopology) -> None:
    """The parent walk agrees with networkx for every pair, and is symmetric."""
    topology = build(wanted)
    graph = nx.DiGraph(topology.graph)
    graph.add_edges_from(("root", index) for index in topology.roots)
    names = {place: name for name, place in topology.place_of.items()}
    for first, second in itertools.combinations(names, 2):
        expected = nx.lowest_common_ancestor(graph, names[first], names[second])
        assert topology.meeting(first, second) == (-1 if expected == "root" else expected)
        assert topology.meeting(first, second) == topology.meeting(second, first)


def test_the_graph_is_frozen_and_holds_no_attributes() -> None:
    """Nobody can change the model through it, and no attribute dictionaries leak."""
    topology = build(document([domain("a", "rack", "n[1-2]")]))
    with pytest.raises(nx.NetworkXError):
        topology.graph.add_node("x")
    assert not any(data for _, data in topology.graph.nodes(data=True))
    with pytest.raises(dataclasses.FrozenInstanceError):
        topology.nodes = ()  # type: ignore[misc]


def test_tiers_by_name_and_number() -> None:
    """Numbers pass as they are, as text too; names are looked up; gaps are fine."""
    topology = build(document([domain("a", "core", "n1")], ["rack", {"name": "core", "tier": 4}]))
    assert topology.resolve_tier("core") == 4
    assert topology.resolve_tier("7") == topology.resolve_tier(7) == 7
    with pytest.raises(TopologyError, match=r"no tier 'spine'; known are rack.*core"):
        topology.resolve_tier("spine")


def test_one_name_with_two_numbers() -> None:
    """Clear per tree; without a tree it has to be written as a number."""
    old = document([domain("a", "leaf", "o1")], ["leaf"])
    new = document([domain("b", "leaf", "n1")], ["nvlink", "leaf"])
    topology = merge([build(old), build(new)])
    roots = {topology.domains[root].name: root for root in topology.roots}
    assert topology.resolve_tier("leaf", roots["a"]) == 1
    assert topology.resolve_tier("leaf", roots["b"]) == 2
    with pytest.raises(TopologyError, match="means 1 and 2 in different trees; write the number"):
        topology.resolve_tier("leaf")
