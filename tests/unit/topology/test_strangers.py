"""What is said of HyperNodes that somebody else wrote, and what their regular expressions match.

Left out: our own HyperNodes (test_hypernodes, test_writes), importing those of others (tests/unit/topology_importers).
"""

from collections.abc import Mapping
from typing import Any

import pytest

from lws_volcano.api.errors import TopologyError
from lws_volcano.api.volcano import HyperNode
from lws_volcano.topology.build import build
from lws_volcano.topology.hypernodes import DesiredHyperNode, desired_hypernodes
from lws_volcano.topology.membership import holds, is_ours
from lws_volcano.topology.patterns import matching
from lws_volcano.topology.selectors import LabelIndex
from lws_volcano.topology.strangers import TWO_PARENTS, concerns
from tests.unit.topology.builders import document, domain

HOSTILE = "(((a{1,100}){1,100}){1,100})+$"
BACKTRACKING = "^(n+)+$"


def ours() -> tuple[DesiredHyperNode, ...]:
    """Two racks of two nodes under a spine."""
    domains = [domain("s", "spine", "", None), domain("r1", "rack", "n[1-2]", "s"), domain("r2", "rack", "n[3-4]", "s")]
    return desired_hypernodes(build(document(domains)))


def theirs(name: str, selector: Mapping[str, Any], kind: str = "Node", **labels: str) -> HyperNode:
    """A HyperNode with one member and no source label of ours."""
    spec = {"tier": 1, "members": [{"type": kind, "selector": dict(selector)}]}
    named = {key.replace("_", "-"): value for key, value in labels.items()}
    metadata = {"name": name, "uid": name, "labels": {f"volcano.sh/{key}": value for key, value in named.items()}}
    return HyperNode.parse({"metadata": metadata, "spec": spec})


def exact(name: str) -> dict[str, Any]:
    """One member by name."""
    return {"exactMatch": {"name": name}}


def regex(pattern: str) -> dict[str, Any]:
    """Members by pattern."""
    return {"regexMatch": {"pattern": pattern}}


def test_strangers_are_not_ours_and_overlaps_are_named() -> None:
    """A HyperNode without our source label is left alone; what it shares with ours is said once, with its writer."""
    stranger = theirs("theirs", exact("n2"), network_topology_source="ufm")
    assert not is_ours(stranger)
    (finding,) = concerns([stranger], ours())
    assert "HyperNode theirs: holds 1 members that ours hold too: n2 (written by ufm)" in str(finding)


def test_a_stranger_that_shares_nothing_is_no_concern() -> None:
    """Nor is there any where nobody else writes HyperNodes."""
    assert concerns([], ours()) == []
    assert concerns([theirs("theirs", exact("elsewhere"))], ours()) == []


def test_two_parents_are_told_first() -> None:
    """Ours held by a stranger too, and a stranger's held by two strangers."""
    rack = next(one.name for one in ours() if one.tier == 1)
    found = concerns([theirs("zone", exact(rack), "HyperNode")], ours())
    assert [one.about for one in found] == [TWO_PARENTS, ""]
    assert "zone" in found[0].what
    torn = [theirs("a", exact("x"), "HyperNode"), theirs("b", regex("^x$"), "HyperNode"), theirs("x", exact("m"))]
    (finding,) = concerns(torn, ours())
    assert (finding.where, finding.about) == ("HyperNode x", TWO_PARENTS)
    assert "has 2 parents, a, b" in finding.what


def test_patterns_are_those_of_go() -> None:
    """Found anywhere in a name, with classes and flags that Python's `re` has not or places elsewhere."""
    assert matching("rack-1", ["rack-1", "a-rack-10", "rack-2"]) == ["rack-1", "a-rack-10"]
    assert matching(r"^n[[:digit:]]+\z", ["n1", "nx"]) == ["n1"]
    assert matching(r"n(?i)A", ["na", "Na"]) == ["na"]
    assert matching("", ["n1"]) == []


@pytest.mark.parametrize("pattern", ["(", "n[", r"(n)\1", "(?=n)", "(?<!n)1", HOSTILE, "n{2000}", "\ud800"])
def test_a_pattern_that_is_refused_says_why(pattern: str) -> None:
    """Wrong, of another dialect, or too large: refused, never a wrong match and never another error."""
    with pytest.raises(TopologyError, match="is no regular expression"):
        matching(pattern, ["n1"])


def test_a_hostile_pattern_costs_no_more_than_any_other() -> None:
    """Nested repetition over names that almost match, which a backtracking engine never ends."""
    names = ["n" * 5000 + "x"] * 20
    assert matching(BACKTRACKING, names) == []


def test_refused_patterns_are_named_with_their_hyper_node() -> None:
    """It holds nothing, and its author is told where and what to do; the others go on."""
    broken, sound = theirs("broken", regex("n(")), theirs("sound", regex("^n[12]$"))
    index = LabelIndex({f"n{number}": {} for number in range(1, 5)})
    assert holds(broken, index) == frozenset()
    found = concerns([sound, broken], ours(), index)
    assert [one.where for one in found] == ["HyperNode broken", "HyperNode sound"]
    assert "'n('" in found[0].what
    assert "exactMatch" in found[0].mend
