"""The chart as Helm renders it; collected only where helm is (see conftest): the copy, values, schema, lint."""

import subprocess

import pytest
import yaml

from deploy.kustomize.render import render
from tests.unit.deploy_manifests.conftest import HELM
from tests.unit.deploy_manifests.manifests import CHART, rendered


def kinds(*flags):
    """Kind -> manifests, rendered with these flags."""
    found = {}
    for manifest in render(HELM, *flags):
        found.setdefault(manifest["kind"], []).append(manifest)
    return found


def refused(*flags):
    """What Helm says when it refuses these flags."""
    with pytest.raises(subprocess.CalledProcessError) as error:
        render(HELM, *flags)
    return error.value.stderr


def test_copy_is_what_helm_renders():
    """deploy/kustomize/base is the chart with its defaults."""
    assert render(HELM) == list(rendered())


def test_lint():
    """`helm lint --strict` has nothing to say."""
    result = subprocess.run(
        [HELM, "lint", "--strict", str(CHART)], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stdout


def test_fail_closed():
    """The failure policy reaches the webhook."""
    (configuration,) = kinds("--set", "webhook.failurePolicy=Fail")["MutatingWebhookConfiguration"]
    assert [hook["failurePolicy"] for hook in configuration["webhooks"]] == ["Fail"]


def test_secret_of_somebody_else():
    """With a Secret of the user's own none is made, and ours may only be read."""
    found = kinds("--set", "webhook.existingSecret=from-cert-manager")
    assert "Secret" not in found
    (rule,) = [rule for role in found["Role"] for rule in role["rules"] if rule["resources"] == ["secrets"]]
    assert (rule["resourceNames"], rule["verbs"]) == (["from-cert-manager"], ["get"])


def test_optional_objects():
    """ServiceMonitor, NetworkPolicy and topologies come when asked for; a single replica has no budget."""
    found = kinds(
        "--set=metrics.serviceMonitor.enabled=true,networkPolicy.enabled=true,replicas=1,topologies.dc1.acrossBandwidth=1GB/s",
        "--api-versions=lws-volcano.io/v1alpha1",
    )
    assert {"ServiceMonitor", "NetworkPolicy", "ClusterTopology"} <= set(found)
    assert "PodDisruptionBudget" not in found
    assert found["ClusterTopology"][0]["spec"] == {"acrossBandwidth": "1GB/s"}


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("topologyFiles.existingConfigMap=site", "site"),
        (r"topologyFiles.inline.dc1\.conf=SwitchName=r1 Nodes=n1", "lws-volcano-topologies"),
    ],
)
def test_topology_files_are_mounted_as_a_directory(flag, name):
    """Ours or the user's; the controller is told where, and ours holds the files."""
    found = kinds("--set-string", flag)
    pod = found["Deployment"][0]["spec"]["template"]["spec"]
    (mount,) = [one for one in pod["containers"][0]["volumeMounts"] if one["name"] == "topologies"]
    assert f"--topology={mount['mountPath']}" in pod["containers"][0]["args"]
    assert "subPath" not in mount  # the kubelet would never bring changes in
    assert {"name": "topologies", "configMap": {"name": name}} in pod["volumes"]
    made = {one["metadata"]["name"]: one["data"] for one in found["ConfigMap"]}
    assert made.get(name) == (None if name == "site" else {"dc1.conf": "SwitchName=r1 Nodes=n1"})


def test_the_schedulers_configuration_may_be_read_by_name_only():
    """And not at all where it is not looked at."""

    def rules(flag):
        (role,) = kinds("--set", flag)["ClusterRole"]
        return [(rule["resourceNames"], rule["verbs"]) for rule in role["rules"] if rule["resources"] == ["configmaps"]]

    assert rules("config.scheduler_config=v/conf") == [(["conf"], ["get"])]
    assert rules("config.scheduler_config=") == []


def test_settings_reach_the_file():
    """`config` becomes the configuration file, and the scheduler's name the webhook's condition."""
    found = kinds("--set", "config.scheduler_name=vc2,config.gang_by_default=true")
    (data,) = [document["data"] for document in found["ConfigMap"]]
    assert yaml.safe_load(data["config.yaml"]) == {"scheduler_name": "vc2", "gang_by_default": True}
    (hook,) = found["MutatingWebhookConfiguration"][0]["webhooks"]
    assert "'vc2'" in hook["matchConditions"][0]["expression"]


@pytest.mark.parametrize(
    ("flag", "part"),
    [
        ("webhook.failurePolicy=Maybe", "failurePolicy"),
        ("config.gang_by_defualt=true", "gang_by_defualt"),
        ("topologyFiles.inline.dc1=x", "dc1"),
        ("replicas=0", "replicas"),
        ("image.digest=latest", "digest"),
        ("topologies.dc1.acrossBandwidth=1GB/s", "CRD"),
    ],
)
def test_wrong_values_are_refused(flag, part):
    """A typing error is named before anything is installed."""
    assert part in refused("--set", flag)
