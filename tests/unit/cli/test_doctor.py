"""Each check of the doctor on a cluster with and without what it looks for, and the command's exit codes.

Left out: reading a cluster (tests/integration).
"""

import argparse
import asyncio
import base64
import json

import pytest

from lws_volcano.api.cluster import Node
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import HyperNode, PodGroup, Queue
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.cli import doctor
from lws_volcano.cli.checks import definitions, hyper_nodes, provider, queues, rights, scheduler, sets, webhook
from lws_volcano.cli.checks.patient import Level, Patient
from lws_volcano.kube.errors import Forbidden, NotFound
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.state.topology_given import from_record
from lws_volcano.webhook.configuration import Registered, desired
from tests.unit.cli.test_live import Lists

PEM = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"
PLUGINS = "tiers:\n- plugins:\n  - name: gang\n  - name: network-topology-aware\n"
GPU_SET = {
    "metadata": {
        "name": "demo",
        "namespace": "a",
        "uid": "u",
        "annotations": {"lws-volcano.io/gang": "true", "volcano.sh/network-topology-mode": "soft"},
    },
    "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {"schedulerName": "volcano"}}}},
}


def cluster(*objects):
    """A cluster that was looked at once."""
    found = Cluster()
    kinds = found.kinds
    stores = {LeaderWorkerSet: kinds.lws, Pod: kinds.pods, PodGroup: kinds.pod_groups, HyperNode: kinds.hyper_nodes,
              Queue: kinds.queues, Node: kinds.nodes}  # fmt: skip
    for view, kind in stores.items():
        kind.store.replace([(one, 0) for one in objects if isinstance(one, view)], 0)
    return found


def patient(*objects, **parts):
    """What the checks are given."""
    return Patient(cluster=cluster(*objects), **parts)


def hyper_node(name, *members, tier=1, kind="Node"):
    """A HyperNode of exact members."""
    listed = [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members]
    return HyperNode.parse({"metadata": {"name": name, "uid": name}, "spec": {"tier": tier, "members": listed}})


def levels(findings):
    """Their levels."""
    return [one.level for one in findings]


def test_a_sound_cluster_has_nothing():
    """Nothing is found, and nothing is said of what could not be read."""
    assert doctor.diagnose(patient()) == []


def test_definitions_that_are_missing_or_old():
    """Missing ones, and PodGroups without the fields that topology needs."""
    found = {resource.rbac_name: {"spec": {}} for resource in definitions.KINDS}
    assert list(definitions.check(patient(definitions=found))) == []
    found["hypernodes.topology.volcano.sh"] = None
    fields = {"minMember": {}, "minTaskMember": {}}
    schema = {"properties": {"spec": {"properties": fields}}}
    found["podgroups.scheduling.volcano.sh"] = {
        "spec": {"versions": [{"name": "v1beta1", "schema": {"openAPIV3Schema": schema}}]}
    }
    whats = [one.what for one in definitions.check(patient(definitions=found))]
    assert whats[0] == "does not exist"
    assert ["networkTopology" in whats[1], "subGroupPolicy" in whats[2]] == [True, True]


def test_scheduler_without_its_plugins():
    """Gang is an error; topology is one where HyperNodes are there."""
    assert list(scheduler.check(patient(scheduler_config={"c": PLUGINS}))) == []
    bare = {"c": "tiers:\n- plugins:\n  - name: priority\n"}
    assert levels(scheduler.check(patient(scheduler_config=bare))) == [Level.ERROR, Level.WARNING]
    used = patient(hyper_node("r1", "n1"), scheduler_config=bare)
    assert levels(scheduler.check(used)) == [Level.ERROR, Level.ERROR]


@pytest.mark.parametrize("text", ["tiers: [", "tiers: 3", "- 1", "tiers: [{plugins: [x]}]", ""])
def test_a_scheduler_configuration_of_any_shape(text):
    """Somebody's slip is a finding and no traceback."""
    assert list(scheduler.check(patient(scheduler_config={"c": text})))


def test_large_domains_and_a_scheduler_that_samples():
    """More than a hundred nodes in a rack, without the flag."""
    names = [f"n{number}" for number in range(101)]
    seen = cluster(*(Node.parse({"metadata": {"name": name, "uid": name}}) for name in names))
    spec = {"tiers": [{"name": "rack"}], "domains": [{"name": "r1", "tier": "rack", "nodes": names}]}
    raw = {"apiVersion": "lws-volcano.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "dc"}, "spec": spec}
    seen.resolution = Catalog().resolve([from_record(TopologyRecord.parse(raw))], tuple(seen.kinds.nodes.store))
    config = {"c": PLUGINS}
    sampling = Patient(cluster=seen, scheduler_config=config, scheduler_args=["--v=3"])
    assert len(list(scheduler.check(sampling))) == 1
    all_nodes = ["--percentage-nodes-to-find=100"]
    assert not list(scheduler.check(Patient(cluster=seen, scheduler_config=config, scheduler_args=all_nodes)))


def test_hyper_nodes_that_are_missing_or_no_tree():
    """None although somebody asks; two parents; nodes in two of them."""
    assert levels(hyper_nodes.check(patient(LeaderWorkerSet.parse(GPU_SET)))) == [Level.ERROR]
    torn = patient(
        hyper_node("r1", "n1"), hyper_node("r2", "n1", "n2"),
        hyper_node("s1", "r1", tier=2, kind="HyperNode"), hyper_node("s2", "r1", tier=2, kind="HyperNode"),
    )  # fmt: skip
    assert [(one.where, one.level) for one in hyper_nodes.check(torn)] == [
        ("HyperNode r1", Level.ERROR),
        ("HyperNodes", Level.WARNING),
    ]


def test_a_pattern_that_nothing_can_be_made_of():
    """Named with its HyperNode; the check goes on."""
    member = {"type": "Node", "selector": {"regexMatch": {"pattern": "gpu["}}}
    odd = HyperNode.parse({"metadata": {"name": "odd", "uid": "o"}, "spec": {"tier": 1, "members": [member]}})
    (found,) = hyper_nodes.check(patient(odd, hyper_node("r1", "n1")))
    assert (found.level, found.where) == (Level.WARNING, "HyperNode odd")
    assert "'gpu['" in found.what


def test_the_provider_of_leader_worker_set():
    """On is an error, off and absent are not."""
    on = "gangSchedulingManagement:\n  schedulerProvider: volcano\n"
    assert levels(provider.check(patient(lws_config={"c": on}))) == [Level.ERROR]
    assert not list(provider.check(patient(lws_config={"c": "# schedulerProvider: volcano"})))
    assert not list(provider.check(patient()))


def test_queues_in_use_that_take_nothing():
    """Closed, and missing."""
    groups = [
        PodGroup.parse({"metadata": {"name": f"g{n}", "uid": f"{n}", "namespace": "a"}, "spec": {"queue": queue}})
        for n, queue in enumerate(["open", "shut", "gone"])
    ]
    known = [
        Queue.parse({"metadata": {"name": name, "uid": name}, "status": {"state": state}})
        for name, state in [("open", "Open"), ("shut", "Closed")]
    ]
    assert [one.where for one in queues.check(patient(*groups, *known))] == ["Queue gone", "Queue shut"]


def registration(bundle=PEM, policy="Fail"):
    """Ours."""
    return desired(Registered(target="https://x/", failure_policy=policy), bundle)


def test_the_registration():
    """Missing, without a certificate, with another one, and failing open."""
    assert levels(webhook.check(patient(webhooks=[]))) == [Level.ERROR]
    assert list(webhook.check(patient(webhooks=[registration()], certificate=PEM))) == []
    assert levels(webhook.check(patient(webhooks=[registration(b"")]))) == [Level.ERROR]
    assert levels(webhook.check(patient(webhooks=[registration()], certificate=b"other"))) == [Level.ERROR]
    assert levels(webhook.check(patient(webhooks=[registration(policy="Ignore")]))) == [Level.WARNING]
    broken = registration()
    broken["webhooks"][0]["clientConfig"]["caBundle"] = "%"
    assert levels(webhook.check(patient(webhooks=[broken]))) == [Level.ERROR]


def test_sets_that_are_no_gang():
    """A scheduler that is not Volcano's, and pods in a PodGroup that Volcano made."""
    raw = json.loads(json.dumps(GPU_SET))
    raw["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["schedulerName"] = "other"
    pod = Pod.parse(
        {
            "metadata": {
                "name": "demo-0",
                "namespace": "a",
                "uid": "p",
                "labels": {"leaderworkerset.sigs.k8s.io/name": "demo"},
                "annotations": {"scheduling.k8s.io/group-name": "podgroup-123"},
            }
        }
    )
    found = list(sets.check(patient(LeaderWorkerSet.parse(raw), pod)))
    assert ["WrongScheduler" in one.what for one in found] == [True, False]
    assert "demo-0" in found[1].what


def test_what_cannot_be_read_is_said():
    """A warning each."""
    assert levels(rights.check(patient(unread={"nodes": "forbidden"}))) == [Level.WARNING]


def test_exit_codes_and_output(monkeypatch, capsys):
    """1 with an error, 0 with warnings only; JSON for programs."""
    seen = {"value": patient(webhooks=[])}
    monkeypatch.setattr(doctor, "in_cluster", lambda _args, _ask: seen["value"])
    assert doctor.run(argparse.Namespace(output="text")) == 1
    assert "mend: " in capsys.readouterr().out
    seen["value"] = patient(webhooks=[registration(policy="Ignore")])
    assert doctor.run(argparse.Namespace(output="json")) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["level"] == "warning"
    seen["value"] = patient()
    assert doctor.run(argparse.Namespace(output="text")) == 0


class Cupboard(Lists):
    """A client of an API server that has these single objects, and remembers which were asked for."""

    def __init__(self, objects, **lists):
        super().__init__(**lists)
        self.asked = set()
        self._objects = objects

    async def get(self, resource, namespace, name):
        """One of them."""
        self.asked.add(f"{resource.kind} {namespace}/{name}")
        found = self._objects.get(f"{resource.kind} {namespace}/{name}", NotFound(404, "NotFound", "gone"))
        if isinstance(found, Exception):
            raise found
        return found


def examined(client, *words):
    """The patient that the command makes of a cluster."""
    parser = argparse.ArgumentParser()
    doctor.add_parser(parser.add_subparsers())
    return asyncio.run(doctor.examine(client, parser.parse_args(["doctor", *words])))


SCHEDULER = {"spec": {"template": {"spec": {"containers": [{"args": ["--v=3"]}]}}}}


@pytest.mark.parametrize(
    ("setting", "words", "asked"),
    [
        (None, [], "ConfigMap volcano-system/volcano-scheduler-configmap"),
        (None, ["--volcano-namespace", "vc"], "ConfigMap vc/volcano-scheduler-configmap"),
        ("batch/own-config", [], "ConfigMap batch/own-config"),
        ("batch/own-config", ["--volcano-namespace", "vc"], "ConfigMap vc/own-config"),
    ],
)
def test_the_scheduler_configuration_is_the_one_that_the_controller_reads(tmp_path, setting, words, asked):
    """The setting names it, a flag its namespace; what is found is said of that one."""
    config = tmp_path / "config.yaml"
    config.write_text(f"scheduler_config: {setting}\n" if setting else "")
    client = Cupboard({asked: {"data": {"c": "tiers: ["}}})
    found = examined(client, "--config", str(config), *words)
    assert [one.where for one in scheduler.check(found)] == [asked]
    namespace = asked.removeprefix("ConfigMap ").partition("/")[0]
    assert f"Deployment {namespace}/volcano-scheduler" in client.asked


def test_a_scheduler_configuration_that_is_not_to_be_read(tmp_path):
    """An empty setting asks for none."""
    config = tmp_path / "config.yaml"
    config.write_text("scheduler_config: ''\n")
    client = Cupboard({"Deployment volcano-system/volcano-scheduler": SCHEDULER})
    assert list(scheduler.check(examined(client, "--config", str(config)))) == []
    assert [one for one in client.asked if one.startswith("ConfigMap volcano-system")] == []


def test_a_scheduler_configuration_that_is_not_there_or_may_not_be_read():
    """Absent beside the scheduler: the setting is wrong. Forbidden: that is said, once."""
    deployment = {"Deployment volcano-system/volcano-scheduler": SCHEDULER}
    (absent,) = scheduler.check(examined(Cupboard(deployment)))
    assert (absent.level, absent.mend) == (Level.WARNING, "name the right one (setting scheduler_config, --config)")
    config = "ConfigMap volcano-system/volcano-scheduler-configmap"
    forbidden = examined(Cupboard({**deployment, config: Forbidden(403, "Forbidden", "role not found")}))
    assert list(scheduler.check(forbidden)) == []
    assert [one.where for one in rights.check(forbidden)] == [config]


@pytest.mark.parametrize(
    ("error", "unread"),
    [(Forbidden(403, "Forbidden", "role not found"), ["queues.scheduling.volcano.sh"]), (NotFound(404), [])],
)
def test_forbidden_and_absent_kinds(error, unread):
    """By what the API server answered, not by its words."""
    assert sorted(examined(Cupboard({}, queues=error)).unread) == unread


def test_an_authority_that_is_no_base64_is_none():
    """A Secret that somebody has edited."""
    assert doctor._authority({"data": {"ca.crt": "%"}}) == b""
    assert doctor._authority({"data": {"ca.crt": base64.b64encode(PEM).decode()}}) == PEM
    assert doctor._authority(None) == b""
