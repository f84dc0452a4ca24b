"""The examples of model servers become the gangs that their comments promise; numbers worked out by hand here.

Left out: that the servers themselves start (they need their images and GPUs).
"""

from datetime import UTC, datetime

import pytest
import yaml

from lws_volcano.api.names import Reason
from lws_volcano.api.quantity import parse_resources
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.offline import plan_offline
from lws_volcano.mapping.snapshot import Snapshot
from tests.unit.deploy_manifests.manifests import EXAMPLES

GANGS = {
    "vllm": (2, 2, {"cpu": "64", "memory": "1Ti", "nvidia.com/gpu": "16"}, ("hard", 1)),
    "sglang": (1, 4, {"cpu": "256", "memory": "4Ti", "nvidia.com/gpu": "32", "rdma/hca": "32"}, ("soft", None)),
    "tensorrt-llm": (2, 2, {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "16"}, ("hard", 1)),
    "llama-cpp": (1, 4, {"cpu": "10", "memory": "40Gi", "nvidia.com/gpu": "3"}, ("hard", 1)),
    "llm-d-prefill": (
        2,
        2,
        {"cpu": "64", "memory": "1Ti", "ephemeral-storage": "2Ti", "nvidia.com/gpu": "16", "rdma/ib": "2"},
        ("hard", 1),
    ),
    "llm-d-decode": (
        1,
        4,
        {"cpu": "130", "memory": "2049Gi", "ephemeral-storage": "4Ti", "nvidia.com/gpu": "32", "rdma/ib": "4"},
        ("hard", 1),
    ),
}
"""Name -> groups, pods a group, what a group asks for, topology mode and tier."""


def sets():
    """Name -> LeaderWorkerSet of every example."""
    documents = (document for path in EXAMPLES.glob("*.yaml") for document in yaml.safe_load_all(path.read_text()))
    return {d["metadata"]["name"]: d for d in documents if d["kind"] == "LeaderWorkerSet"}


def topology_of(spec):
    """The constraint on the group, or on its workers where the leader is outside of it."""
    return spec.get("networkTopology") or spec["subGroupPolicy"][0]["networkTopology"]


def test_all_examples_are_here():
    """Each set in the folder has its numbers above."""
    assert set(sets()) == set(GANGS)


@pytest.mark.parametrize("name", GANGS)
def test_becomes_its_gang(name):
    """One PodGroup a group, whole and exact, nothing to complain about."""
    groups, size, resources, (mode, tier) = GANGS[name]
    lws = LeaderWorkerSet.parse(sets()[name])
    plan = plan_offline(Snapshot(lws=lws, now=datetime(2030, 1, 1, tzinfo=UTC), settings=Settings()))
    assert [problem for problem in plan.problems if problem.reason is not Reason.TIER_NOT_FOUND] == []
    specs = [group.manifest["spec"] for group in plan.groups]
    assert len(specs) == groups
    for spec in specs:
        assert (spec["minMember"], spec["minTaskMember"]) == (size, {"leader": 1, "worker": size - 1})
        assert parse_resources(spec["minResources"]) == parse_resources(resources)
        topology = topology_of(spec)
        assert (topology["mode"], topology.get("highestTierAllowed")) == (mode, tier)


@pytest.mark.parametrize("name", GANGS)
def test_fields_that_lws_does_not_know(name):
    """A typing error in a field of the set would be dropped silently by an API server without strict validation."""
    spec = sets()[name]["spec"]
    template = spec["leaderWorkerTemplate"]
    assert set(spec) <= {"replicas", "leaderWorkerTemplate", "startupPolicy", "rolloutStrategy", "networkConfig"}
    assert set(template) <= {"size", "restartPolicy", "leaderTemplate", "workerTemplate", "subGroupPolicy"}
