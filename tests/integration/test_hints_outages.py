"""Hints across the life of the webhook on a real API server: replicas that die in between, and none at all.

Covers: the leader admitted by one life and its workers by the next; pods of a new set while nobody answers, let in or
refused as configured, and what becomes of them afterwards; a gang that runs meanwhile. Left out: other outages of the
webhook (test_webhook), of the API server (test_trouble, test_faults).
"""

from deploy.local.controller import NAMESPACE
from deploy.local.resources import MUTATING_WEBHOOKS
from lws_volcano.api.names import GROUP_NAME, LWS_NAME, WORKER_INDEX
from tests.integration.api import EVENTS, LEADER_WORKER_SETS, NODES, STATEFUL_SETS
from tests.integration.builders import leader_worker_set
from tests.integration.expectations import uids
from tests.integration.hooks import unused_port
from tests.integration.test_hints import HARD, PREFERRED, hinted, plan_of
from tests.integration.test_hints_in_time import created, racks, take
from tests.integration.test_replicas import LEASES
from tests.integration.topologies import names

CLOSED = ("--webhook-failure-policy", "Fail")
OPEN = ("--webhook-failure-policy", "Ignore")


async def refuse_workers(world, name):
    """From now on no worker pod can be made in this namespace, until this registration is deleted."""
    hook = {
        "name": "nobody.example.com",
        "clientConfig": {"url": f"https://127.0.0.1:{unused_port()}/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}},
        "objectSelector": {
            "matchExpressions": [
                {"key": LWS_NAME, "operator": "Exists"},
                {"key": WORKER_INDEX, "operator": "DoesNotExist"},
            ]
        },
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    await world.api.create(MUTATING_WEBHOOKS, {"metadata": {"name": name}, "webhooks": [hook]})


async def refused(world, stateful_set):
    """Wait until pods of a StatefulSet were refused."""

    async def look():
        found = await world.api.list(EVENTS, world.namespace, fieldSelector="reason=FailedCreate")
        return [one for one in found if one["involvedObject"]["name"] == stateful_set]

    await world.eventually(look)


async def again(world, stateful_set):
    """Have Kubernetes try again at once: it backs off from refusals."""
    change = {"metadata": {"annotations": {"example.com/try": "again"}}}
    await world.api.patch(STATEFUL_SETS, stateful_set, change, world.namespace)


def favourite(pod):
    """Nodes of the heaviest preferred term."""
    best = max(pod["spec"]["affinity"]["nodeAffinity"][PREFERRED], key=lambda term: term["weight"])
    return best["preference"]["matchExpressions"][0]["values"]


async def test_workers_follow_the_plan_of_a_life_before(world, controller):
    """Killed after the leader, started before the workers: they get the plan on the leader, not what is best by now."""
    await controller.start(*CLOSED)
    found = await racks(world, 2)
    blocked = f"aaa-{world.namespace}"
    await refuse_workers(world, blocked)
    try:
        await world.create(leader_worker_set(size=3))
        (leader,) = await created(world, "demo", 1)
        await refused(world, "demo-0")
        await controller.kill()
        # Long enough ago for its Lease to have run out, or whoever comes next would wait for that.
        await world.api.delete(LEASES, "lws-volcano", NAMESPACE)
        plan = plan_of(leader)
        (other,) = {*found} - {plan["domain"]["name"]}
        # The other rack is the fullest with room now: a plan made anew would go there.
        await take(world, found[other][0])
        await controller.start(*CLOSED)
    finally:
        await world.api.delete(MUTATING_WEBHOOKS, blocked)
    await again(world, "demo-0")
    await world.running("demo", 3)
    pods = await created(world, "demo", 3)
    planned = [one["node"] for one in plan["pods"]]
    assert uids(pods[:1]) == uids([leader])
    assert [favourite(pod) for pod in pods] == [[node] for node in planned]
    assert [pod["spec"]["nodeName"] for pod in pods] == planned
    counts = await controller.metrics()
    given = {outcome: counts.get(f'lws_volcano_webhook_hints_total{{outcome="{outcome}"}}', 0)
             for outcome in ("planned", "followed", "order", "replaced")}  # fmt: skip
    assert given == {"planned": 0, "followed": 2, "order": 0, "replaced": 0}


async def a_gang_that_runs(world, controller, policy):
    """A group of four in one of two racks; then nobody answers for pods any more. Gives the UIDs of its pods."""
    await controller.start(*policy)
    await racks(world, 2)
    await world.create(leader_worker_set(size=4, annotations=HARD))
    pods = await world.running("demo", 4)
    # Not killed: the next life would wait for the Lease to run out.
    await controller.stop()
    return uids(pods)


async def test_pods_that_came_past_an_open_webhook_are_still_a_gang(world, controller):
    """Ignore: no hints and no group; they wait for room, are taken into their group, and then start together."""
    before = await a_gang_that_runs(world, controller, OPEN)
    # In a smaller cluster there would be no room for them in the queue: the PodGroups that Volcano makes for such pods
    # stay behind, empty, and hold that of a pod each.
    taken = {pod["spec"]["nodeName"] for pod in await world.pods("demo")}
    for node in {*names(8)} - taken:
        await world.api.patch(NODES, node, {"spec": {"unschedulable": True}})
    await world.create(leader_worker_set("late", size=4, annotations=HARD))
    pods = await created(world, "late", 4)
    assert not any(hinted(pod) or plan_of(pod) for pod in pods)
    assert uids(await world.running("demo", 4)) == before
    await controller.start(*OPEN)

    async def taken_in():
        now = await created(world, "late", 4)
        assert uids(now) == uids(pods)
        groups = {(pod["metadata"].get("annotations") or {}).get(GROUP_NAME, "") for pod in now}
        return len(groups) == 1 and groups < {*await world.pod_groups()} and min(groups).startswith("late-0-")

    await world.eventually(taken_in)
    assert uids(await world.running("demo", 4)) == before
    await world.api.delete(LEADER_WORKER_SETS, "demo", world.namespace)
    assert uids(await world.running("late", 4)) == uids(pods)


async def test_pods_that_a_closed_webhook_refused_come_with_their_hints(world, controller):
    """Fail: no pod while nobody answers, and the gang that runs is not touched; then all of them, as planned."""
    before = await a_gang_that_runs(world, controller, CLOSED)
    await world.create(leader_worker_set("late", size=4, annotations=HARD))
    await refused(world, "late")
    assert await world.pods("late") == []
    assert uids(await world.running("demo", 4)) == before
    await controller.start(*CLOSED)
    await again(world, "late")
    pods = await world.running("late", 4)
    assert all(hinted(pod) for pod in pods)
    planned = [one["node"] for one in plan_of(pods[0])["pods"]]
    assert [pod["spec"]["nodeName"] for pod in pods] == planned
    assert uids(await world.running("demo", 4)) == before
