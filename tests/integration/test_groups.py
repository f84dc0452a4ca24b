"""LWS groups become PodGroups on a real API server, with the controller as a process of its own.

Covers: numbers and owner, binding at creation, a group that does not fit, scaling, restarts, a controller that is
killed, no write without a change. Left out: startup and restart policies, rollouts (test_policies), bad input and
missing rights (test_trouble).
"""

import asyncio

from lws_volcano.api.names import GROUP_NAME, LWS_NAME, MANAGED_BY, TASK_SPEC
from tests.integration.api import LEADER_WORKER_SETS, PODS
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.controllers import USER
from tests.integration.observer import violations

GPU = "nvidia.com/gpu"


def big_set(name="big", replicas=4):
    """Leader of 4 CPU; workers of 8 GPU given as limits only, a 1-CPU sidecar, an init container larger than both."""
    worker = pod_template(
        limits={GPU: "8"},
        initContainers=[
            {"name": "pull", "image": "example.com/pull:1", "resources": {"requests": {"cpu": "6", "memory": "1Gi"}}},
            {
                "name": "proxy",
                "image": "example.com/proxy:1",
                "restartPolicy": "Always",
                "resources": {"requests": {"cpu": "1"}},
            },
        ],
    )
    leader = pod_template(requests={"cpu": "4"})
    return leader_worker_set(name, replicas=replicas, size=5, leader=leader, worker=worker)


async def groups_are(world, lws, names):
    """Wait until the PodGroups of an LWS are exactly those of these group indices."""

    async def look():
        groups = (await world.pod_groups()).values()
        found = [one for one in groups if one["metadata"].get("labels", {}).get(LWS_NAME) == lws]
        indices = sorted(one["metadata"]["name"].split("-")[-2] for one in found)
        assert indices == sorted(names), indices
        return found or [{}]

    return await world.eventually(look)


async def test_four_groups_with_room_for_three(world, controller):
    """PodGroups are exact and owned, pods are bound at creation, three groups run and the fourth holds nothing."""
    await world.nodes(12)
    await controller.start()
    async with world.recorder() as recorder:
        lws = await world.create(big_set())

        async def three_whole():
            pods = await world.pods("big")
            assert len(pods) == 20
            placed = {}
            for pod in pods:
                placed.setdefault(pod["metadata"]["annotations"][GROUP_NAME], []).append(pod["spec"].get("nodeName"))
            counts = sorted(len([node for node in nodes if node]) for nodes in placed.values())
            assert counts == [0, 5, 5, 5], counts
            return True

        await world.eventually(three_whole, timeout=60)
        groups = await groups_are(world, "big", ["0", "1", "2", "3"])
    for group in groups:
        spec = group["spec"]
        assert spec["minMember"] == 5
        assert spec["minTaskMember"] == {"leader": 1, "worker": 4}
        assert spec["minResources"] == {"cpu": "28", "memory": "4Gi", GPU: "32"}
        assert spec["queue"] == "default"
        (owner,) = group["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == (
            "LeaderWorkerSet",
            lws["metadata"]["uid"],
            True,
        )
        assert group["metadata"]["labels"][MANAGED_BY] == "lws-volcano"
    names = {group["metadata"]["name"] for group in groups}
    created = recorder.created("Pod")
    assert len(created) == 20
    for pod in created:
        annotations = pod["metadata"]["annotations"]
        assert annotations[GROUP_NAME] in names
        assert annotations[TASK_SPEC] == ("leader" if pod["metadata"]["name"].count("-") == 1 else "worker")
    assert violations(recorder.events) == []


async def test_scale_down_and_up_restart_and_delete(world, controller):
    """PodGroups are exactly the groups that exist, through scaling, a restart, and the end of the LWS."""
    await world.nodes(8)
    await controller.start()
    async with world.recorder() as recorder:
        await world.create(leader_worker_set("demo", replicas=4, size=2))
        await world.running("demo", 8)
        before = {one["metadata"]["name"]: one["metadata"]["uid"] for one in await groups_are(world, "demo", "0123")}

        await world.scale("demo", 2)
        await groups_are(world, "demo", "01")
        await world.running("demo", 4)

        await world.scale("demo", 4)
        await groups_are(world, "demo", "0123")
        await world.running("demo", 8)

        leader = next(pod for pod in await world.pods("demo") if pod["metadata"]["name"] == "demo-0")
        await world.api.delete(PODS, "demo-0", world.namespace)

        async def restarted():
            pods = {pod["metadata"]["name"]: pod for pod in await world.pods("demo")}
            return "demo-0" in pods and pods["demo-0"]["metadata"]["uid"] != leader["metadata"]["uid"]

        await world.eventually(restarted)
        await world.running("demo", 8)
        after = {one["metadata"]["name"]: one["metadata"]["uid"] for one in await groups_are(world, "demo", "0123")}
        kept = [name for name in before if name.split("-")[1] in "01"]
        assert [after[name] for name in kept] == [before[name] for name in kept]

        await world.api.delete(LEADER_WORKER_SETS, "demo", world.namespace)
        await groups_are(world, "demo", [])
    assert violations(recorder.events) == []


async def test_killed_in_the_middle_and_started_again(world, controller):
    """A controller that was killed picks up what happened while it was away: nothing missing, nothing left over.

    With failurePolicy Fail no pod is made while the webhook is away; with Ignore they would start outside of a gang.
    """
    await world.nodes(16)
    await controller.start("--webhook-failure-policy", "Fail")
    await world.create(leader_worker_set("away", replicas=2, size=2))
    await world.create(leader_worker_set("gone", replicas=2, size=2))
    await controller.kill()
    await world.scale("away", 4)
    await world.api.delete(LEADER_WORKER_SETS, "gone", world.namespace)
    await world.create(leader_worker_set("late", replicas=1, size=3))
    await controller.start("--webhook-failure-policy", "Fail")
    for name, pods, groups in [("away", 8, "0123"), ("late", 3, "0")]:
        await world.running(name, pods, timeout=60)
        await groups_are(world, name, groups)
    await groups_are(world, "gone", [])


async def test_passes_without_a_change_write_nothing(world, controller):
    """Ten more passes over every LWS: not one write reaches the API server, Leases apart."""
    await world.nodes(6)
    await controller.start(settings={"resync": 0.2})
    for number in range(3):
        await world.create(leader_worker_set(f"quiet-{number}", replicas=1, size=2))
    for number in range(3):
        await world.running(f"quiet-{number}", 2)

    async def settled():
        conditions = [
            condition["reason"]
            for lws in await world.api.list(LEADER_WORKER_SETS, world.namespace)
            for condition in lws["status"].get("conditions", ())
            if condition["type"] == "lws-volcano.io/GangScheduled"
        ]
        assert conditions == ["AllGroupsPlaced"] * 3, conditions
        return True

    await world.eventually(settled)

    async def quiet():
        """Events are written behind the passes, later than the conditions on a busy machine."""
        before = len(our_writes(world))
        await asyncio.sleep(1)
        return len(our_writes(world)) == before

    await world.eventually(quiet)
    passes = 'lws_volcano_reconciles_total{area="lws",outcome="ok"}'
    seen, writes = (await controller.metrics())[passes], len(our_writes(world))

    async def ten_more():
        return (await controller.metrics())[passes] >= seen + 30

    await world.eventually(ten_more)
    assert our_writes(world)[writes:] == []


def our_writes(world):
    """Writes of the controller as the API server counted them."""
    return [write for write in world.writes_of(USER) if write.resource != "leases"]
