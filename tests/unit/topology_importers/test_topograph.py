"""Topograph's graph and model files: chains of switches, accelerator domains, the older layout, what is refused."""

import json
from typing import Any

import pytest

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.importers.registry import import_topology
from tests.unit.topology_importers.builders import DATA, domains, imported, meeting_tier, sets, source


def graph(*instances: tuple[str, list[str], str]) -> str:
    """A graph of instances with their layers and accelerator domain."""
    key = "accelerator.topograph.run/domain"
    listed: list[dict[str, Any]] = [
        {"id": name, "network_layers": layers, "labels": {key: domain} if domain else {}}
        for name, layers, domain in instances
    ]
    return json.dumps({"instances": listed})


def test_layers_run_closest_first() -> None:
    """Accelerator domains inside leaves are the lowest tier."""
    topology, said = imported("topograph-graph", (DATA / "graph.json").read_text())
    assert [tier.name for tier in topology.tiers] == ["accelerator", "leaf", "spine"]
    assert meeting_tier(topology, "i-0", "i-1") == 1
    assert meeting_tier(topology, "i-0", "i-2") == 2
    assert meeting_tier(topology, "i-0", "i-4") == 3
    assert said == []


def test_instances_are_nodes_by_what_the_nodes_say() -> None:
    """The cloud's name of the machine is not the name of the node."""
    topology, _ = imported(
        "topograph-graph",
        graph(("i-1", ["l"], ""), ("i-2", ["l"], "")),
        nodes={"a": {}, "b": {}},
        instances={"i-1": "a", "i-2": "b"},
    )
    assert domains(topology) == {1: sets("a b")}


def test_domains_over_several_leaves_stand_between_the_tiers() -> None:
    """Two leaves of an NVLink domain under one spine."""
    text = graph(*((f"n{at}", [f"l{at // 2}", "s"], f"d{at // 4}") for at in range(8)))
    topology, _ = imported("topograph-graph", text)
    assert [tier.name for tier in topology.tiers] == ["leaf", "accelerator", "spine"]
    assert meeting_tier(topology, "n0", "n2") == 2


def test_domains_across_the_switches_are_told_and_left_out() -> None:
    """Half of each leaf."""
    topology, said = imported("topograph-graph", graph(*((f"n{at}", [f"l{at // 2}"], f"d{at % 2}") for at in range(4))))
    assert domains(topology) == {1: sets("n0 n1", "n2 n3")}
    assert any("cut across" in finding for finding in said)


def test_instances_without_layers_are_told() -> None:
    """They are nowhere, not together."""
    topology, said = imported("topograph-graph", graph(("a", ["l"], ""), ("b", [], ""), ("c", [], "")))
    assert domains(topology) == {1: sets("a")}
    assert "2 instances have no network_layers: b, c" in said[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "no `instances`"),
        ('{"instances": {}}', "expected a list"),
        ('{"instances": [{"network_layers": []}]}', "without an id"),
        (graph(("a", ["l"], ""), ("a", ["m"], "")), "there twice"),
        (graph(("a", ["l", "s", "t"], ""), ("b", ["l", "t", "s"], "")), "form a cycle"),
        ('{"instances": [], "instances": []}', "given twice"),
    ],
)
def test_graphs_that_are_refused(text: str, words: str) -> None:
    """With the place."""
    with pytest.raises(TopologyError, match=words):
        import_topology("topograph-graph", source(text))


def test_both_layouts_of_a_model() -> None:
    """`blocks`, and before that `capacity_blocks` beside nodes in the switches."""
    topology, _ = imported("topograph-model", (DATA / "model.yaml").read_text())
    assert domains(topology)[1] == sets("gpu1 gpu2", "gpu3 gpu4")
    assert domains(topology)[2] == sets("gpu1 gpu2 gpu3 gpu4", "gpu5 gpu6")
    topology, _ = imported("topograph-model", (DATA / "model-old.yaml").read_text())
    assert domains(topology) == {1: sets("gpu1 gpu2", "gpu3 gpu4"), 2: sets("gpu1 gpu2 gpu3 gpu4")}


def test_a_model_of_blocks_alone() -> None:
    """Accelerator domains without switches are trees of their own."""
    text = "blocks:\n- nodes: ['n[1-2]']\n  annotations: {accelerator.topology.test/domain: d1}\n- nodes: [n3]\n"
    topology, said = imported("topograph-model", text)
    assert domains(topology) == {1: sets("n1 n2")}
    assert any("n3" in finding for finding in said)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("switches: {a: {switches: [b]}, c: {switches: [a]}, a: {}}", "twice"),
        ("blocks:\n- {switch: gone, nodes: [n1]}\n", "unknown switch gone"),
        ("blocks:\n- {nodes: []}\n", "has no nodes"),
        ("blocks:\n- {nodes: [n1]}\n- {nodes: [n1]}\n", "n1 in block 1 and in block 2"),
        ("blocks: []\ncapacity_blocks: {}\n", "both layouts"),
        ("racks: []\n", "unknown section racks"),
        ("- a\n", "expected a mapping"),
    ],
)
def test_models_that_are_refused(text: str, words: str) -> None:
    """With the place."""
    with pytest.raises(TopologyError, match=words):
        import_topology("topograph-model", source(text))
