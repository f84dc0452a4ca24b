"""HyperNodes that exist: members by name, regular expression and label; what is no tree.

Leaves out HyperNodes that we make (`tests/unit/topology`), apart from reading them back.
"""

import json
from typing import Any

import pytest

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.importers.registry import import_topology
from tests.unit.topology_importers.builders import DATA, domains, imported, sets, source


def hypernode(name: str, tier: int | str, *members: dict[str, Any]) -> dict[str, Any]:
    """A HyperNode."""
    return {"kind": "HyperNode", "metadata": {"name": name}, "spec": {"tier": tier, "members": list(members)}}


def exact(name: str, kind: str = "Node") -> dict[str, Any]:
    """A member by name."""
    return {"type": kind, "selector": {"exactMatch": {"name": name}}}


def regex(pattern: str, kind: str = "Node") -> dict[str, Any]:
    """Members by regular expression."""
    return {"type": kind, "selector": {"regexMatch": {"pattern": pattern}}}


def text(*objects: dict[str, Any], nodes: tuple[str, ...] = ()) -> str:
    """A List of HyperNodes and nodes."""
    items = [*objects, *({"kind": "Node", "metadata": {"name": name}} for name in nodes)]
    return json.dumps({"kind": "List", "items": items})


def test_all_ways_to_name_members() -> None:
    """Tier numbers are kept, as text or not, gaps included."""
    topology, said = imported("hypernodes", (DATA / "hypernodes.yaml").read_text())
    assert domains(topology) == {
        1: sets("n0 n1 n2 n3", "n4 n5 n6 n7"),
        3: sets("n0 n1 n2 n3 n4 n5 n6 n7"),
    }
    assert said == []


def test_exact_members_need_no_nodes() -> None:
    """They say it all."""
    topology, _ = imported("hypernodes", text(hypernode("r", 1, exact("a"), exact("b"))))
    assert domains(topology) == {1: sets("a b")}


def test_expressions_match_anywhere() -> None:
    """As Go's do: `rack-[01]` is in `rack-10` too."""
    nodes = ("a", "b", "c")
    racks = [hypernode(f"rack-{name}", 1, exact(node)) for name, node in zip(("0", "1", "10"), nodes, strict=True)]
    topology, _ = imported("hypernodes", text(*racks, hypernode("s", 2, regex("rack-[01]", "HyperNode")), nodes=nodes))
    assert domains(topology)[2] == sets("a b c")


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ([hypernode("r", 1, regex("a.*"))], "need the nodes"),
        ([hypernode("r", 1, exact("a")), hypernode("q", 1, exact("a"))], "a is straight in r, q"),
        (
            [
                hypernode("r", 1, exact("a")),
                hypernode("s", 2, exact("r", "HyperNode")),
                hypernode("t", 2, exact("r", "HyperNode")),
            ],
            "r has the parents s, t",
        ),
        ([hypernode("r", 2, exact("a")), hypernode("s", 2, exact("r", "HyperNode"))], "of lower tiers only"),
        ([hypernode("r", 1, exact("a")), hypernode("r", 1, exact("b"))], "there twice"),
        ([hypernode("r", "first", exact("a"))], "wrong spec.tier"),
        ([hypernode("r", 1, {"type": "Node", "selector": {}})], "one of exactMatch"),
        ([], "holds no HyperNode"),
    ],
)
def test_what_is_no_tree_is_refused(objects: list[dict[str, Any]], words: str) -> None:
    """With the HyperNode."""
    with pytest.raises(TopologyError, match=words):
        import_topology("hypernodes", source(text(*objects)))


def test_a_broken_expression_is_named() -> None:
    """And left out on request."""
    both = text(hypernode("r", 1, regex("(")), hypernode("q", 1, exact("a")), nodes=("a",))
    with pytest.raises(TopologyError, match="no regular expression"):
        import_topology("hypernodes", source(both))
    topology, _ = imported("hypernodes", both, keep_going=True)
    assert domains(topology) == {1: sets("a")}
