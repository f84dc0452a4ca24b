"""Domains from labels on nodes: paths, gaps, values that say nothing.

Left out: which labels a cloud has (importers).
"""

from lws_volcano.api.cluster import Node
from lws_volcano.topology.build import build
from lws_volcano.topology.model import Topology
from tests.unit.topology.builders import document, node, nodes, refusal, sets

LEVELS = [{"tier": "rack", "key": "rack"}, {"tier": "spine", "key": "spine"}]


def labelled(cluster: list[Node], **level: object) -> Topology:
    """Rack and spine by label."""
    levels = [{**LEVELS[0], **level}, LEVELS[1]]
    return build(document([], node_labels=levels), cluster)


def words(topology: Topology) -> str:
    """All warnings."""
    return "\n".join(map(str, topology.warnings))


def test_equal_values_under_different_parents_stay_apart() -> None:
    """Two racks r1 under two spines are two."""
    topology = labelled([node(f"n{i}", rack="r1", spine=f"s{i % 2}") for i in range(4)])
    assert [d.name for d in topology.domains] == ["s0", "s0.r1", "s1", "s1.r1"]
    assert sets(topology, 1) == [{"n0", "n2"}, {"n1", "n3"}]


def test_no_information_is_no_domain() -> None:
    """Missing, empty and unknown labels make no rack, and each kind is listed."""
    cluster = [node("n1", rack="r1", spine="s"), node("n2", rack="r1", spine="s"), node("n3")]
    cluster += [node("n4", rack=""), node("n5", rack="unknown"), node("n6", rack="Unknown")]
    topology = labelled(cluster)
    assert topology.nodes == ("n1", "n2")
    assert topology.unplaced == ("n3", "n4", "n5", "n6")
    assert "1 of 6 nodes have no label 'rack': n3" in words(topology)
    assert "1 of 6 nodes have an empty label 'rack': n4" in words(topology)
    assert "2 of 6 nodes have a label that says nothing 'rack': n5, n6" in words(topology)


def test_unknown_may_be_declared_a_value() -> None:
    """Only when the document says so."""
    topology = labelled([node("n1", rack="unknown"), node("n2", rack="unknown")], ignoreValues=[])
    assert sets(topology, 1) == [{"n1", "n2"}]


def test_a_node_without_the_closest_label_is_attached_further_up() -> None:
    """It can serve a request for the spine, not for a rack."""
    topology = labelled([node("n1", rack="r", spine="s"), node("n2", spine="s")])
    assert topology.path(topology.place_of["n2"]) == ("s",)
    assert "they are in no rack" in words(topology)


def test_names_with_dots_do_not_collide() -> None:
    """Values may hold dots; two paths that read the same get marks, the same in every run."""
    cluster = [node("n1", rack="c", spine="a.b"), node("n2", rack="b.c", spine="a")]
    topology = labelled(cluster)
    names = [d.name for d in topology.domains if d.tier == 1]
    assert len(set(names)) == 2
    assert names == [d.name for d in labelled(cluster[::-1]).domains if d.tier == 1]


def test_a_node_may_be_called_like_a_domain() -> None:
    """Nodes and domains have name spaces of their own."""
    topology = labelled([node("s", rack="r", spine="s"), node("n1", rack="r", spine="s")])
    assert sets(topology, 2) == [{"s", "n1"}]
    assert topology.graph.number_of_nodes() == 4


def test_what_is_refused() -> None:
    """Unknown tiers, two labels for a tier, labels beside domains."""
    cluster = nodes("n1")
    assert "unknown tier 'x'" in refusal(document([], node_labels=[{"tier": "x", "key": "k"}]), cluster)[0]
    twice = [{"tier": "rack", "key": "a"}, {"tier": 1, "key": "b"}]
    assert "both for tier 'rack'" in refusal(document([], node_labels=twice), cluster)[0]
    both = document([{"name": "d", "tier": 1}], node_labels=LEVELS)
    assert "either domains or nodeLabels" in refusal(both, cluster)[0]


def test_without_nodes_it_is_said() -> None:
    """Labels need nodes."""
    assert "no nodes are known" in words(build(document([], node_labels=LEVELS)))


def test_selectors_that_say_the_same() -> None:
    """A domain whose path of labels exactly its nodes have can be written as a label selector."""
    topology = labelled([node("n1", rack="r", spine="s"), node("n2", rack="r", spine="s"), node("n3", rack="r")])
    index = topology.index_of["s.r"]
    assert topology.selectors[index].match_labels == {"rack": "r", "spine": "s"}
    assert topology.index_of["r"] not in topology.selectors
