"""What a scheduler would exclude: one test a rule.

Covers `fits`, `room` and `shape`. Leaves out how counts add up over domains (`test_invariants`).
"""

from typing import Any

import pytest

from lws_volcano.api.cluster import Node, Taint
from lws_volcano.api.pods import Toleration
from lws_volcano.placement.fits import excluded, tolerates
from lws_volcano.placement.room import Room
from lws_volcano.placement.shape import Shape
from tests.unit.placement.builders import GPU, node, shape


def affinity(*expressions: dict[str, Any], fields: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Required node affinity of one term."""
    term = {"matchExpressions": list(expressions), "matchFields": fields or []}
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {key: {"nodeSelectorTerms": [term]}}}}


def room_of(one: Node) -> Room:
    """Empty room of a node."""
    made = Room(one.name)
    made.describe(one)
    return made


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ({"key": "zone", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "zone", "operator": "In", "values": ["c"]}, False),
        ({"key": "zone", "operator": "NotIn", "values": ["a"]}, False),
        ({"key": "nothing", "operator": "NotIn", "values": ["a"]}, True),
        ({"key": "zone", "operator": "Exists"}, True),
        ({"key": "zone", "operator": "DoesNotExist"}, False),
        ({"key": "rank", "operator": "Gt", "values": ["4"]}, True),
        ({"key": "rank", "operator": "Lt", "values": ["5"]}, False),
        ({"key": "zone", "operator": "Gt", "values": ["5"]}, False),
        ({"key": "zone", "operator": "Near", "values": ["5"]}, False),
    ],
)
def test_required_affinity(expression: dict[str, Any], fits: bool) -> None:
    """Every operator, on a node with zone a and rank 5."""
    one = node("n1", labels={"zone": "a", "rank": "5"})
    assert (excluded(one, shape(**affinity(expression))) == "") is fits


def test_affinity_on_the_name_of_the_node() -> None:
    """MatchFields knows metadata.name."""
    spec = affinity(fields=[{"key": "metadata.name", "operator": "In", "values": ["n1"]}])
    assert excluded(node("n1"), shape(**spec)) == ""
    assert excluded(node("n2"), shape(**spec)) == "node affinity"


def test_an_empty_term_matches_nothing() -> None:
    """As the API says."""
    assert excluded(node("n1"), shape(**affinity())) == "node affinity"


@pytest.mark.parametrize(
    ("toleration", "holds"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "value": "yes"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu", "value": "yes", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "yes", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"value": "yes"}, False),
    ],
)
def test_tolerations(toleration: dict[str, Any], holds: bool) -> None:
    """Against the taint gpu=yes:NoSchedule."""
    taint = Taint(key="gpu", value="yes", effect="NoSchedule")
    assert tolerates((Toleration.model_validate(toleration),), taint) is holds


def test_numeric_tolerations() -> None:
    """Gt and Lt compare the taint's value with the toleration's."""
    taint = Taint(key="sla", value="950", effect="NoSchedule")
    assert tolerates((Toleration(key="sla", operator="Gt", value="900"),), taint)
    assert not tolerates((Toleration(key="sla", operator="Lt", value="900"),), taint)


def test_a_soft_taint_excludes_nobody() -> None:
    """PreferNoSchedule is a wish."""
    assert excluded(node("n1", taints=[{"key": "a", "effect": "PreferNoSchedule"}]), Shape()) == ""


def test_readiness() -> None:
    """Unknown is not ready; no condition is."""
    raw = {"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    assert excluded(Node.parse(raw), Shape()) == "not ready"
    assert excluded(Node.parse({"metadata": {"name": "n"}}), Shape()) == ""


def test_whole_pods_of_the_scarcest_resource() -> None:
    """Seven GPUs make two pods of three; one pod slot makes one."""
    assert room_of(node("n", 7)).slots(shape(3)) == 2
    assert room_of(node("n", 7, allocatable={"pods": 1})).slots(shape(3)) == 1
    assert room_of(node("n", 7)).slots(shape(1, requests={"example.com/nic": 1})) == 0


def test_exact_to_the_last_unit() -> None:
    """A tenth thrice is not more than three tenths."""
    one = room_of(node("n", 8, allocatable={"cpu": "300m"}))
    assert one.slots(shape(0, requests={"cpu": "0.1"})) == 3


def test_host_ports_are_given_once() -> None:
    """One pod a node, and none beside another of the same port."""
    port = shape(1, ports=[{"containerPort": 80, "hostPort": 80}])
    one = room_of(node("n", 8))
    assert one.slots(port) == 1
    assert one.pair(port, port) == (1, 0)
    assert one.pair(shape(1), port) == (1, 1)
    one.take(port)
    assert one.slots(port) == 0
    one.give(port)
    assert one.slots(port) == 1


def test_host_network_makes_every_port_a_host_port() -> None:
    """API defaulting."""
    assert room_of(node("n", 8)).slots(shape(1, hostNetwork=True, ports=[{"containerPort": 80}])) == 1


def test_leader_and_workers_on_one_node() -> None:
    """What a leader leaves for workers."""
    one = room_of(node("n", 8))
    assert one.pair(shape(3), shape(2)) == (4, 2)
    assert one.pair(shape(9), shape(2)) == (4, -1)
    assert one.pair(shape(8), shape(9)) == (0, 0)
    assert one.pair(shape(2), shape(2)) == (4, 3)


def test_a_node_written_by_hand_needs_no_pod_slots() -> None:
    """Capacity stands in for allocatable, and 110 pods for none given."""
    one = room_of(Node.parse({"metadata": {"name": "n"}, "status": {"capacity": {GPU: 200}}}))
    assert one.slots(shape(1)) == 110
