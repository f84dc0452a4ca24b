"""The released LeaderWorkerSet and Volcano on kind, with this project installed by its chart (deploy/kind/README.md).

What the local control plane can't show: the real scheduler's binding, kubelets, a Service in front of the webhook.
"""

import json
import subprocess
import time
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "deploy" / "kind" / "demo.yaml"
PATIENCE = 180.0
"""Seconds; images have to be pulled."""

pytestmark = pytest.mark.timeout(600)


class Kubectl:
    """kubectl on one context and namespace."""

    def __init__(self, context, namespace):
        self._base = ["kubectl", "--context", context, "--namespace", namespace]

    def __call__(self, *words, text=None):
        """Output of one call."""
        command = [*self._base, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, input=text, timeout=120).stdout

    def items(self, kind, *flags):
        """Objects of a kind."""
        return json.loads(self("get", kind, "-o", "json", *flags))["items"]


@pytest.fixture
def kubectl(context):
    """A namespace of the test's own."""
    name = f"e2e-{int(time.time())}"
    Kubectl(context, "default")("create", "namespace", name)
    yield Kubectl(context, name)
    Kubectl(context, "default")("delete", "namespace", name, "--wait=false")


def eventually(look):
    """Repeat until it gives something true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, "not in time"
        time.sleep(1)
    return found


def running(kubectl, count):
    """The pods, once exactly so many run."""

    def look():
        pods = kubectl.items("pods")
        good = [pod for pod in pods if pod["status"].get("phase") == "Running"]
        return pods if len(good) == len(pods) == count else None

    return eventually(look)


def test_groups_run_whole_each_in_one_rack(kubectl):
    """Two gangs of three: bound at creation, each in one rack; scaled down and deleted, nothing stays."""
    kubectl("apply", "-f", str(DEMO))
    pods = running(kubectl, 6)
    nodes = kubectl.items("nodes")
    racks = {node["metadata"]["name"]: node["metadata"]["labels"].get("example.com/rack") for node in nodes}
    groups = {}
    for pod in pods:
        name = pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
        groups.setdefault(name, set()).add(racks[pod["spec"]["nodeName"]])
    assert sorted(len(found) for found in groups.values()) == [1, 1]
    kept = {group["metadata"]["name"]: group["spec"] for group in kubectl.items("podgroups.scheduling.volcano.sh")}
    assert set(kept) == set(groups)
    assert all(spec["minTaskMember"] == {"leader": 1, "worker": 2} for spec in kept.values())
    kubectl("scale", "leaderworkerset/demo", "--replicas=1")
    eventually(lambda: len(kubectl.items("podgroups.scheduling.volcano.sh")) == 1)
    kubectl("delete", "leaderworkerset/demo")
    eventually(lambda: not kubectl.items("podgroups.scheduling.volcano.sh") and not kubectl.items("pods"))


def test_a_restarted_group_keeps_its_pod_group(kubectl):
    """A deleted worker takes its group along; the PodGroup stays the same object."""
    kubectl("apply", "-f", str(DEMO))
    running(kubectl, 6)
    before = {group["metadata"]["uid"] for group in kubectl.items("podgroups.scheduling.volcano.sh")}
    old = {pod["metadata"]["uid"] for pod in kubectl.items("pods") if pod["metadata"]["name"].startswith("demo-0")}
    kubectl("delete", "pod", "demo-0-1", "--wait=false")

    def anew():
        pods = kubectl.items("pods")
        fresh = {pod["metadata"]["uid"] for pod in pods if pod["status"].get("phase") == "Running"}
        return len(fresh) == 6 and not fresh & old

    eventually(anew)
    assert {group["metadata"]["uid"] for group in kubectl.items("podgroups.scheduling.volcano.sh")} == before


def test_nothing_refused(context):
    """Neither replica was refused anything by the API server: the chart's rights are enough."""
    system = Kubectl(context, "lws-volcano-system")
    log = system("logs", "--selector=app.kubernetes.io/name=lws-volcano", "--tail=-1")
    assert not [line for line in log.splitlines() if "forbidden" in line.lower()]
