"""Pods read with shared parts are the same pods.

Covers: equality with the plain view on the recorded pods of a real cluster, sharing, forgetting. Leaves out: memory.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from lws_volcano.api.pods import Pod
from lws_volcano.state.interning import LIMIT, InterningPods
from tests.contract import manifests

TRACES = Path(__file__).parents[4] / "shared" / "traces"


def recorded() -> list[dict[str, Any]]:
    """Every state of every pod in the plain traces."""
    lines = [line for path in sorted(TRACES.glob("*.jsonl")) for line in path.read_text().splitlines()]
    return [event["object"] for event in map(json.loads, lines) if event["resource"] == "pods"]


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs ../shared/traces")
def test_recorded_pods_are_read_as_the_plain_view_reads_them() -> None:
    """Field by field, for real LWS pods in all their states."""
    read = InterningPods()
    pods = recorded()
    assert pods
    for raw in pods:
        assert read.parse(raw) == Pod.parse(raw)


def test_two_pods_of_a_template_share_their_spec() -> None:
    """Environment and node differ, the rest is one object."""
    read = InterningPods()
    first, second = manifests.pod("a", node="n1"), manifests.pod("a", worker=1, node="n2")
    first["spec"]["containers"][0]["env"] = [{"name": "RANK", "value": "0"}]
    one, two = read.parse(first), read.parse(second)
    assert one.spec.containers is two.spec.containers
    assert (one.spec.node_name, two.spec.node_name) == ("n1", "n2")


@pytest.mark.parametrize("empty", [{}, {"metadata": {"name": "a", "labels": None}, "spec": None, "status": None}])
def test_a_pod_of_nulls_is_a_pod(empty: dict[str, Any]) -> None:
    """What is missing has its default."""
    assert InterningPods().parse(empty).spec.containers == ()


def test_what_was_forgotten_is_read_again() -> None:
    """More templates than are remembered."""
    read = InterningPods()
    for number in range(LIMIT + 10):
        raw = manifests.pod("a")
        raw["spec"]["priority"] = number
        assert read.parse(raw).spec.priority == number
    raw = manifests.pod("a")
    raw["spec"]["priority"] = 0
    assert read.parse(raw).spec.priority == 0
