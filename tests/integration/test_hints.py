"""Hints on pods on a real API server: as created, from one replica and from two.

Covers: plan and terms in the first event of every pod, ranks in order in one rack, the plan on the PodGroup, groups
that hold their place on the other replica. Left out: which terms there are (tests/unit/placement), what the real
scheduler makes of them (with the real programs only), outages (test_hints_outages).
"""

import json

from deploy.local.controller import CONFIGURATION
from deploy.local.resources import MUTATING_WEBHOOKS
from lws_volcano.api.names import GROUP_NAME, LWS_NAME, PLAN, TASK_PRIORITY, WORKER_INDEX
from tests.integration.api import CLUSTER_TOPOLOGIES, HYPER_NODES
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import Controller
from tests.integration.topologies import names, topology

HARD = {"volcano.sh/network-topology-mode": "hard", "volcano.sh/network-topology-highest-tier": "rack"}
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


async def two_racks(world):
    """Two racks of four nodes, known and written."""
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(4), "r2": names(4, 4)}), "test")

    async def written():
        return len(await world.api.list(HYPER_NODES)) == 3

    await world.eventually(written)


def plan_of(pod):
    """The plan that a pod carries; nothing without one."""
    return json.loads((pod["metadata"].get("annotations") or {}).get(PLAN, "{}"))


def hinted(pod):
    """The pod has preferred terms."""
    affinity = pod["spec"].get("affinity") or {}
    return bool((affinity.get("nodeAffinity") or {}).get(PREFERRED))


def by_group(pods):
    """PodGroup -> its pods by rank."""
    found = {}
    for pod in sorted(pods, key=lambda one: int(one["metadata"]["labels"][WORKER_INDEX])):
        found.setdefault(pod["metadata"]["annotations"][GROUP_NAME], []).append(pod)
    return found


async def test_hints_are_on_the_pods_as_created_and_followed(world, controller):
    """Plan on leaders, terms on all, in the first event; each group sits in one rack, its ranks in the order of it."""
    await world.nodes(8)
    await controller.start()
    await two_racks(world)
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(replicas=2, size=4, annotations=HARD))
        pods = await world.running("demo", 8)
    created = recorder.created("Pod")
    assert len(created) == 8
    assert all(hinted(pod) for pod in created)
    for pods_of_one in by_group(created).values():
        assert [bool(plan_of(pod)) for pod in pods_of_one] == [True, False, False, False]
        assert TASK_PRIORITY in pods_of_one[0]["metadata"]["annotations"]
    domains = set()
    for name, group in by_group(pods).items():
        plan = plan_of(group[0])
        nodes = [pod["spec"]["nodeName"] for pod in group]
        assert nodes in ([*names(4)], [*names(4, 4)])
        domains.add(plan["domain"]["name"])
        pod_group = (await world.pod_groups())[name]
        assert plan_of(pod_group) == plan
        assert pod_group["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}
    assert domains == {"r1", "r2"}


async def test_nothing_is_hinted_where_nothing_is_wanted(world, controller):
    """`placement: none` and a cluster without a topology: pods as they were."""
    await world.nodes(8)
    await controller.start()
    await world.create(leader_worker_set("early"))
    assert not any(hinted(pod) for pod in await world.running("early", 2))
    await two_racks(world)
    await world.create(leader_worker_set("none", annotations={"lws-volcano.io/placement": "none"}))
    pods = await world.running("none", 2)
    assert not any(hinted(pod) or plan_of(pod) for pod in pods)


async def ask(world, configuration, name, expression):
    """Have the replica of a configuration asked first about pods with these labels, once it has registered."""

    async def registered():
        found = await world.api.find(MUTATING_WEBHOOKS, configuration)
        return found and found["webhooks"][0]["clientConfig"].get("caBundle") and found["webhooks"][0]

    found = await world.eventually(registered)
    selector = {"matchExpressions": [{"key": LWS_NAME, "operator": "Exists"}, expression]}
    body = {"metadata": {"name": name}, "webhooks": [{**found, "objectSelector": selector}]}
    await world.api.create(MUTATING_WEBHOOKS, body)


async def test_two_replicas_answer_for_one_group(world, controller, tmp_path):
    """One is asked about leaders, the other about workers: the terms agree, and no two groups share a node."""
    await world.nodes(8)
    await controller.start()
    await two_racks(world)
    second = f"second-{world.namespace}"
    other = Controller(world, tmp_path)
    other._lives = 10
    await other.start("--webhook-configuration", second)
    leaders, workers = f"aaa-leaders-{world.namespace}", f"aaa-workers-{world.namespace}"
    try:
        await ask(world, CONFIGURATION, leaders, {"key": WORKER_INDEX, "operator": "In", "values": ["0"]})
        await ask(world, second, workers, {"key": WORKER_INDEX, "operator": "DoesNotExist"})
        async with world.recorder() as recorder:
            await world.create(leader_worker_set(replicas=4, size=2, annotations=HARD))
            await world.running("demo", 8)
        created = recorder.created("Pod")
        planned = [node["node"] for pod in created for node in plan_of(pod).get("pods", [])]
        assert len(planned) == len(set(planned)) == 8
        assert [pod["metadata"]["name"] for pod in created if not hinted(pod)] == []
        counts = await other.metrics()
        answered = 'lws_volcano_webhook_hints_total{outcome="%s"}'
        assert counts.get(answered % "planned", 0) == 0
        assert counts.get(answered % "followed", 0) == 4, counts
    finally:
        await other.stop()
        for name in (leaders, workers, second):
            await world.api.delete(MUTATING_WEBHOOKS, name)
