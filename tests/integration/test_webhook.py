"""Admission on a real API server: pods bound at creation, what never reaches us, outages, certificates, least rights.

The pods are made by LeaderWorkerSet (or its stand-in), whose own pod webhook runs before or after ours. No controller
of ours runs but in the test of the installation. Left out: rules of binding (tests/unit/mapping), latency (benchmarks).
"""

import asyncio
import base64
import sys
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from deploy.local.control_plane import free_ports
from deploy.local.errors import ApiError
from deploy.local.resources import MUTATING_WEBHOOKS, PODS
from lws_volcano.kube.clock import SystemClock
from lws_volcano.observe.address import Address
from lws_volcano.placement.hints import PodHints
from lws_volcano.webhook.configuration import Registered, desired
from tests.integration.api import EVENTS, Resource
from tests.integration.builders import leader_worker_set
from tests.integration.hooks import Hooks, answers, stray_pod, unused_port
from tests.unit.deploy_manifests.manifests import rendered

GROUP = "scheduling.k8s.io/group-name"
TASK = "volcano.sh/task-spec"
LWS = "leaderworkerset.sigs.k8s.io/"
SECRETS = Resource("v1", "Secret", "secrets")


@pytest_asyncio.fixture
async def hooks(world):
    """Starts webhooks; gone with their registrations when the test ends."""
    running = Hooks(world)
    yield running
    await running.close()


def annotations(pod):
    """Annotations of a pod."""
    return pod["metadata"].get("annotations") or {}


async def settled(world, lws, count):
    """The pods of a set, once there are so many."""

    async def look():
        pods = await world.pods(lws)
        assert len(pods) == count, [pod["metadata"]["name"] for pod in pods]
        return pods

    return await world.eventually(look)


@pytest.mark.parametrize("order", ["aaa", "zzz"])
async def test_pods_are_bound_in_their_first_event(world, hooks, order):
    """Before LWS's own webhook and after it: group and task are in the ADDED event of every pod, and don't change."""
    await hooks.start(configuration=f"{order}-{world.namespace}")
    called_again = answers("unchanged")
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(replicas=2, size=3))
        await recorder.until(lambda events: len([e for e in events if (e.kind, e.type) == ("Pod", "ADDED")]) >= 6)
        pods = recorder.created("Pod")
    for pod in pods:
        labels = pod["metadata"]["labels"]
        name = f"demo-{labels[LWS + 'group-index']}-{labels[LWS + 'template-revision-hash']}"
        role = "leader" if labels[LWS + "worker-index"] == "0" else "worker"
        assert (annotations(pod)[GROUP], annotations(pod)[TASK]) == (name, role)
    assert len({annotations(pod)[GROUP] for pod in pods}) == 2
    assert answers("unchanged") == called_again
    changed = [event.object for event in recorder.of("Pod", "MODIFIED")]
    assert all(GROUP in annotations(pod) for pod in changed)


async def test_pods_of_others_are_as_they_were(world, hooks):
    """Without the opt-in nothing is added."""
    await hooks.start()
    before = answers("left_alone")
    await world.create(leader_worker_set(gang=False))
    pods = await settled(world, "demo", 2)
    assert not any("lws-volcano" in str(annotations(pod)) or TASK in annotations(pod) for pod in pods)
    assert answers("left_alone") == before + 2


async def test_only_creation_of_our_pods_reaches_us(world, hooks):
    """UPDATE, DELETE, other schedulers, other pods, other namespaces, pods with a group: the API server doesn't ask."""
    await hooks.start()
    await world.create(leader_worker_set())
    (leader, _) = await settled(world, "demo", 2)
    before = answers()
    name = leader["metadata"]["name"]
    await world.api.patch(PODS, name, {"metadata": {"labels": {"touched": "yes"}}}, world.namespace)
    await world.api.patch(PODS, name, {"metadata": {"annotations": {GROUP: "other"}}}, world.namespace)
    strangers = [
        stray_pod("default-scheduler", world.namespace, scheduler="default-scheduler"),
        stray_pod("no-lws", world.namespace, labels={"app": "x"}),
        stray_pod("has-a-group", world.namespace, annotations={GROUP: "mine"}),
        stray_pod("system", "kube-system"),
    ]
    for pod in strangers:
        await world.api.request(
            "POST", f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", pod, params={"dryRun": "All"}
        )
    assert answers() == before
    await world.api.create(PODS, stray_pod("asked-about", world.namespace))
    assert answers() == before + 1


async def test_hints_and_gate_are_taken_by_the_api_server(world, hooks):
    """Terms, annotations and the gate of a leader-first group are what the API server then holds."""

    class Terms:
        def for_member(self, member):
            """One preferred term and one required expression."""
            expression = {"key": "example.com/rack", "operator": "Exists"}
            return PodHints(
                preferred=({"weight": 10 + member.worker_index, "preference": {"matchExpressions": [expression]}},),
                required=({"key": "example.com/no", "operator": "DoesNotExist"},),
                annotations={"lws-volcano.io/plan": "{}"},
            )

    await hooks.start(hints=Terms())
    await world.create(leader_worker_set(startupPolicy="LeaderReady", size=2))
    (leader,) = await settled(world, "demo", 1)
    node = leader["spec"]["affinity"]["nodeAffinity"]
    assert node["preferredDuringSchedulingIgnoredDuringExecution"][0]["weight"] == 10
    terms = node["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [{"key": "example.com/no", "operator": "DoesNotExist"}]}]
    assert annotations(leader)["lws-volcano.io/plan"] == "{}"
    worker = stray_pod("demo-0-1", world.namespace, labels={**leader["metadata"]["labels"], LWS + "worker-index": "1"})
    made = await world.api.request("POST", PODS.path(world.namespace), worker, params={"dryRun": "All"})
    assert made["spec"]["schedulingGates"] == [{"name": "lws-volcano.io/minimum"}]


async def test_outage_with_ignore_lets_pods_in(world, hooks):
    """Fail open: nobody listens, the pods come all the same, unbound."""
    hook = await hooks.start(failure_policy="Ignore")
    await hooks.stop(hook)
    await world.create(leader_worker_set())
    pods = await settled(world, "demo", 2)
    assert not any(TASK in annotations(pod) for pod in pods)


async def test_outage_with_fail_holds_pods_until_we_are_back(world, hooks):
    """Fail closed: no pod comes in unbound; as soon as a replica answers, their StatefulSets go on."""
    (port,) = free_ports(1)
    hook = await hooks.start(failure_policy="Fail", address=Address("127.0.0.1", port))
    await hooks.stop(hook)
    await world.create(leader_worker_set())
    await asyncio.sleep(1.0)
    assert await world.pods("demo") == []
    await hooks.start(failure_policy="Fail", address=Address("127.0.0.1", port))
    pods = await settled(world, "demo", 2)
    assert all(annotations(pod)[GROUP] for pod in pods)


async def test_certificate_is_renewed_without_a_lost_request(world, hooks):
    """Fail closed and a stream of pods while the certificate is renewed: not one of them is refused."""

    class Moving(SystemClock):
        ago = timedelta(days=85)

        def now(self):
            """The machine's time, in the past."""
            return datetime.now(UTC) - self.ago

    clock = Moving()
    await hooks.start(failure_policy="Fail", clock=clock)
    first = await world.api.get(SECRETS, hooks.options.secret, world.namespace)
    before = answers("no_such_set")
    made = 0
    for ago in (timedelta(days=20), timedelta(0)):
        clock.ago = ago
        for _ in range(20):
            await world.api.create(PODS, stray_pod(f"pod-{made}", world.namespace))
            made += 1
            await asyncio.sleep(0.03)
    now = await world.api.get(SECRETS, hooks.options.secret, world.namespace)
    assert now["data"]["tls.crt"] != first["data"]["tls.crt"]
    assert answers("no_such_set") - before == made


async def test_registration_is_put_right(world, hooks):
    """A bundle that somebody resets, and a policy that somebody edits, are ours again within a moment."""
    await hooks.start()
    right = await hooks.registered()
    spoiled = await world.api.get(MUTATING_WEBHOOKS, hooks.options.configuration)
    spoiled["webhooks"][0]["clientConfig"]["caBundle"] = base64.b64encode(b"").decode()
    spoiled["webhooks"][0]["failurePolicy"] = "Fail"
    spoiled["webhooks"][0]["rules"][0]["operations"] = ["CREATE", "UPDATE"]
    await world.api.replace(MUTATING_WEBHOOKS, spoiled)

    async def look():
        return await hooks.registered() == right

    await world.eventually(look)
    settled_version = (await world.api.get(MUTATING_WEBHOOKS, hooks.options.configuration))["metadata"][
        "resourceVersion"
    ]
    await asyncio.sleep(0.6)
    found = await world.api.get(MUTATING_WEBHOOKS, hooks.options.configuration)
    assert found["metadata"]["resourceVersion"] == settled_version


async def test_replicas_share_one_authority(world, hooks):
    """An installed configuration: either replica answers under the same bundle, the rest of the object is untouched."""
    name = hooks.options.configuration
    installed = desired(Registered(target=f"https://127.0.0.1:{unused_port()}/mutate-pods", failure_policy="Fail"), b"")
    del installed["webhooks"][0]["clientConfig"]["caBundle"]
    await world.api.apply(MUTATING_WEBHOOKS, {**installed, "metadata": {"name": name}}, "installer")
    replicas = [await hooks.start(registration="ca-bundle") for _ in range(2)]

    async def bundled():
        return (await hooks.registered())["clientConfig"].get("caBundle")

    bundle = await world.eventually(bundled)
    for number, replica in enumerate(replicas):
        url = f"https://127.0.0.1:{replica.port}/mutate-pods"
        change = [{"op": "replace", "path": "/webhooks/0/clientConfig/url", "value": url}]
        await world.api.patch(MUTATING_WEBHOOKS, name, change, content="application/json-patch+json")

        async def admitted(number=number):
            try:
                return await world.api.create(PODS, stray_pod(f"by-{number}", world.namespace))
            except ApiError:
                return None

        assert await world.eventually(admitted)
    hook = await hooks.registered()
    assert (hook["failurePolicy"], hook["clientConfig"]["caBundle"]) == ("Fail", bundle)


async def test_without_rights_to_the_secret(world, hooks):
    """No permission for Secrets: a certificate of its own, in the bundle, and pods are bound as ever."""
    rules = [
        {"apiGroups": ["leaderworkerset.x-k8s.io"], "resources": ["leaderworkersets"], "verbs": ["get"]},
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["mutatingwebhookconfigurations"],
            "verbs": ["get", "patch", "create"],
        },
    ]
    kubeconfig = await world.plane.kubeconfig_for(f"few-rights-{world.namespace}", rules)
    await hooks.start(kubeconfig=kubeconfig, failure_policy="Fail")
    await world.create(leader_worker_set())
    pods = await settled(world, "demo", 2)
    assert all(annotations(pod)[GROUP] for pod in pods)
    assert await world.api.find(SECRETS, hooks.options.secret, world.namespace) is None


async def test_installation_is_taken_by_the_api_server(world):
    """Every manifest of the installation, strictly validated: no unknown field, no wrong type."""
    kinds = {
        "ConfigMap": Resource("v1", "ConfigMap", "configmaps"),
        "Secret": SECRETS,
        "Service": Resource("v1", "Service", "services"),
        "ServiceAccount": Resource("v1", "ServiceAccount", "serviceaccounts"),
        "Deployment": Resource("apps/v1", "Deployment", "deployments"),
        "PodDisruptionBudget": Resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        "Role": Resource("rbac.authorization.k8s.io/v1", "Role", "roles"),
        "RoleBinding": Resource("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
        "ClusterRole": Resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False),
        "ClusterRoleBinding": Resource(
            "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", False
        ),
        "MutatingWebhookConfiguration": MUTATING_WEBHOOKS,
        "CustomResourceDefinition": Resource(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False
        ),
    }
    query = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test", "force": "true"}
    for manifest in rendered():
        resource = kinds[manifest["kind"]]
        namespace = world.namespace if resource.namespaced else ""
        placed = {**manifest, "metadata": {**manifest["metadata"], **({"namespace": namespace} if namespace else {})}}
        path = resource.path(namespace, manifest["metadata"]["name"])
        await world.api.request("PATCH", path, placed, params=query, content="application/apply-patch+yaml")


async def test_installed_rights_are_enough(world):
    """The program under the chart's rights alone does its work without a refusal."""
    rules = [rule for role in rendered() if role["kind"] in {"ClusterRole", "Role"} for rule in role["rules"]]
    user = f"installed-{world.namespace}"
    kubeconfig = await world.plane.kubeconfig_for(user, rules)
    metrics, port = free_ports(2)
    target = f"https://127.0.0.1:{port}/mutate-pods"
    installed = desired(Registered(target=target, failure_policy="Fail"), b"")
    del installed["webhooks"][0]["clientConfig"]["caBundle"]
    await world.api.apply(MUTATING_WEBHOOKS, installed, "installer")
    secret = next(document for document in rendered() if document["kind"] == "Secret")
    await world.api.create(SECRETS, {**secret, "metadata": {**secret["metadata"], "namespace": world.namespace}})
    arguments = [
        f"--kubeconfig={kubeconfig}",
        f"--namespace={world.namespace}",
        f"--metrics-address=127.0.0.1:{metrics}",
        f"--webhook-address=127.0.0.1:{port}",
        "--webhook-host=127.0.0.1",
        "--log-format=json",
    ]
    child = world.run(user, [sys.executable, "-m", "lws_volcano", "run", *arguments])
    try:
        await world.nodes(4)

        async def registered():
            configuration = await world.api.get(MUTATING_WEBHOOKS, "lws-volcano")
            return configuration["webhooks"][0]["clientConfig"].get("caBundle")

        await world.eventually(registered, 60)
        await world.create(leader_worker_set())
        await world.running("demo", 2)

        async def said():
            found = await world.api.request(
                "GET", f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{world.namespace}/leaderworkersets/demo"
            )
            kinds = {condition["type"]: condition["status"] for condition in found["status"].get("conditions", [])}
            return kinds.get("lws-volcano.io/GangScheduled") == "True"

        async def told():
            events = await world.api.list(EVENTS, world.namespace)
            return any(event["reason"] == "PodGroupCreated" for event in events)

        await world.eventually(said)
        await world.eventually(told)
    finally:
        await world.api.delete(MUTATING_WEBHOOKS, "lws-volcano")
    refused = [line for line in child.log.read_text().splitlines() if "forbidden" in line.lower()]
    assert refused == []
