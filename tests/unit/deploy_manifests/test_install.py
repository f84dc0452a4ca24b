"""The installation: hardening, rights, webhook, CRDs, and its agreement with the program that it starts.

Read from the rendered copy in deploy/kustomize/base. Left out: an API server's opinion of it
(tests/integration/test_webhook.py), values other than the defaults (test_with_helm).
"""

import json
import re

import pytest
import yaml

from deploy.helm.generate import generate
from deploy.kustomize.render import digest
from lws_volcano import __version__
from lws_volcano.api.settings import Settings
from lws_volcano.cli.main import _parser
from lws_volcano.cli.run import options_of
from lws_volcano.state.kinds import Kinds
from lws_volcano.webhook.configuration import Registered, ServiceReference, desired
from lws_volcano.webhook.options import WebhookOptions
from tests.unit.deploy_manifests.manifests import CHART, KUSTOMIZE, ROOT, container, of_kind, rendered, the

TEXTS = sorted(
    path
    for folder in (CHART, KUSTOMIZE, ROOT / "deploy" / "examples", ROOT / "deploy" / "kind")
    for path in folder.rglob("*")
    if path.suffix in {".yaml", ".tpl", ".txt", ".md", ".json"}
)


def rules(*kinds):
    """Right -> verbs over the (Cluster)Roles: `(group, resource)` to a set."""
    found = {}
    for role in (role for kind in kinds for role in of_kind(kind)):
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    found.setdefault((group, resource), set()).update(rule["verbs"])
    return found


def flags():
    """Arguments of the container, its environment put in."""
    return [argument.replace("$(POD_NAMESPACE)", "lws-volcano-system") for argument in container()["args"]]


def test_rendered_copy_is_of_this_chart():
    """After a change of the chart: `python -m deploy.kustomize.render`."""
    first = (KUSTOMIZE / "base" / "lws-volcano.yaml").read_text().splitlines()[0]
    assert first.rpartition(":")[2] == digest()


def test_versions_agree():
    """Chart, application and package carry one version."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__


def test_no_crds_of_others():
    """R27: a chart that carries the CRDs of LWS or Volcano takes them away with it one day."""
    groups = {crd["spec"]["group"] for crd in of_kind("CustomResourceDefinition")}
    assert groups <= {"lws-volcano.io"}
    assert not (CHART / "crds").exists()


def test_own_crd_stays_on_uninstall():
    """R27: uninstalling keeps every CRD, and with it every ClusterTopology."""
    for crd in of_kind("CustomResourceDefinition"):
        assert crd["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_generated_parts_are_up_to_date():
    """Settings in the schema and CRDs in the chart: `python -m deploy.helm.generate`, then render."""
    wanted = generate()
    assert {path: path.read_text() for path in wanted if path.exists()} == wanted
    assert set((CHART / "files" / "crds").glob("*.yaml")) <= set(wanted)


def test_pod_webhooks_take_creation_only():
    """R27: UPDATE of pods is never intercepted, by no webhook of ours."""
    hooks = [hook for configuration in of_kind("MutatingWebhookConfiguration") for hook in configuration["webhooks"]]
    assert hooks
    assert not of_kind("ValidatingWebhookConfiguration")
    for hook in hooks:
        for rule in hook["rules"]:
            assert (rule["resources"], rule["operations"]) == (["pods"], ["CREATE"])


def test_webhook_is_the_one_in_the_program():
    """The installed configuration and the one that `--webhook-registration=manage` writes are the same."""
    options = WebhookOptions()
    target = ServiceReference(name=options.service, namespace=options.namespace)
    expected = desired(Registered(target=target), b"")["webhooks"]
    del expected[0]["clientConfig"]["caBundle"]
    assert the("MutatingWebhookConfiguration")["webhooks"] == expected


def test_program_takes_its_arguments():
    """Every flag is known to `lws-volcano run`, and names the objects that are installed."""
    parser, module = _parser(flags())
    run = options_of(parser.parse_args([flag for flag in flags() if not flag.startswith("--config=")]))
    assert module is not None
    ((name, _),) = run.services
    assert name == "webhook"
    assert (run.lease_namespace, run.leader_elect) == ("lws-volcano-system", True)
    installed = {(document["kind"], document["metadata"]["name"]) for document in rendered()}
    given = dict(flag.removeprefix("--").split("=", 1) for flag in flags() if "=" in flag)
    assert {
        ("Service", given["webhook-service"]),
        ("Secret", given["webhook-secret"]),
        ("MutatingWebhookConfiguration", given["webhook-configuration"]),
    } <= installed


def test_configuration_is_understood():
    """The settings file has no field that the program refuses."""
    configuration = next(d for d in of_kind("ConfigMap") if "config.yaml" in d["data"])
    assert Settings.model_validate(yaml.safe_load(configuration["data"]["config.yaml"])) == Settings()


def test_every_value_is_described():
    """Each value has an entry with a description in the schema, and the schema has no other entries."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(values) == set(schema["properties"]) - {"global"}
    for name, entry in schema["properties"].items():
        assert entry["description"], name
        if isinstance(values.get(name), dict) and "properties" in entry and name != "config":
            assert set(values[name]) == set(entry["properties"]), name


def test_what_is_watched_may_be_watched():
    """List and watch for every kind that has a reflector."""
    granted = rules("ClusterRole")
    for kind in Kinds().all():
        assert {"list", "watch"} <= granted[(kind.resource.group, kind.resource.plural)], kind.resource.rbac_name


def test_rights_are_the_least():
    """What may be written is listed here: a new right has to be argued for. No wildcard, no Secret beyond our own."""
    reading = {"get", "list", "watch"}
    writing = {right: verbs - reading for right, verbs in rules("ClusterRole").items() if verbs - reading}
    assert writing == {
        ("leaderworkerset.x-k8s.io", "leaderworkersets/status"): {"patch"},
        ("scheduling.volcano.sh", "podgroups"): {"create", "patch", "delete"},
        ("topology.volcano.sh", "hypernodes"): {"create", "patch", "delete"},
        ("lws-volcano.io", "clustertopologies/status"): {"patch"},
        ("", "pods"): {"patch", "delete"},
        ("", "events"): {"create", "patch"},
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): {"patch"},
    }
    assert rules("Role") == {
        ("coordination.k8s.io", "leases"): {"create", "get", "update"},
        ("", "secrets"): {"get", "patch"},
    }
    for role in of_kind("ClusterRole") + of_kind("Role"):
        assert not [rule for rule in role["rules"] if "*" in json.dumps(rule)]
        named = {"secrets", "mutatingwebhookconfigurations", "customresourcedefinitions"}
        assert all(rule.get("resourceNames") for rule in role["rules"] if named & set(rule["resources"]))


def test_pod_is_hardened():
    """The restricted Pod Security Standard, a read-only root, no privilege to gain."""
    pod = the("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "hostNetwork" not in pod
    namespace = yaml.safe_load((KUSTOMIZE / "base" / "namespace.yaml").read_text())
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_replicas_outlive_drains_and_rollouts():
    """Two replicas on two nodes, one of them always there, and time to finish what is under way."""
    deployment = the("Deployment")["spec"]
    pod = deployment["template"]["spec"]
    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert the("PodDisruptionBudget")["spec"]["minAvailable"] == 1
    assert pod["topologySpreadConstraints"][0]["topologyKey"] == "kubernetes.io/hostname"
    webhook = WebhookOptions()
    assert pod["terminationGracePeriodSeconds"] > webhook.drain + webhook.finish


def test_probes_and_ports():
    """Probes ask what the program serves; Services and probes name ports that the container has."""
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    probes = {name: container()[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {probe["path"] for probe in probes.values()} == {"/livez", "/readyz"}
    assert {probe["port"] for probe in probes.values()} <= set(ports)
    targets = {port["targetPort"] for service in of_kind("Service") for port in service["spec"]["ports"]}
    assert targets <= set(ports)
    assert any(flag == f"--webhook-address=0.0.0.0:{ports['webhook']}" for flag in flags())
    assert any(flag == f"--metrics-address=0.0.0.0:{ports['metrics']}" for flag in flags())


def test_selectors_select():
    """Every selector matches the pods of the Deployment."""
    labels = the("Deployment")["spec"]["template"]["metadata"]["labels"].items()
    assert the("Deployment")["spec"]["selector"]["matchLabels"].items() <= labels
    assert the("PodDisruptionBudget")["spec"]["selector"]["matchLabels"].items() <= labels
    for service in of_kind("Service"):
        assert service["spec"]["selector"].items() <= labels


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_images_name_no_registry(path):
    """Images come from wherever the reader keeps them: no name has a host in front."""
    images = re.findall(r"(?m)^\s*-?\s*(?:image|repository):\s*\"?([^\s\"{]+)", path.read_text())
    for image in images:
        first, slash, _ = image.partition("/")
        assert not (slash and ("." in first or ":" in first)), image
