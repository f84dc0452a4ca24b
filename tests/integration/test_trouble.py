"""Bad input, missing kinds, missing rights, an API server that is away: said once, waited for, gone on with.

Covers what people do wrong with an LWS that the API server takes, and what an installation may lack. Left out: faults
of single requests (tests/contract), policies (test_policies).
"""

import asyncio

import pytest

from deploy.local.control_plane import ControlPlane
from deploy.local.programs import start_programs
from deploy.local.resources import CRDS, NAMESPACES, PODS
from tests.integration.api import QUEUES
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.controllers import USER, controller_of, rights
from tests.integration.expectations import condition_is, events_of, made_anew
from tests.integration.world import World

QUEUE = "scheduling.volcano.sh/queue-name"


def writes(world):
    """Writes of the controller but for Leases."""
    return [write for write in world.writes_of(USER) if write.resource != "leases"]


async def test_leader_and_workers_with_different_schedulers(world, controller):
    """No PodGroup, one condition and one Event that say which; the pods are left to their schedulers."""
    await world.nodes(2)
    await controller.start()
    leader = pod_template(requests={"cpu": "1"}, scheduler="default-scheduler")
    await world.create(leader_worker_set("mixed", size=2, leader=leader))
    condition = await condition_is(world, "mixed", "WrongScheduler")
    assert condition["status"] == "False"
    assert "default-scheduler" in condition["message"]
    await world.eventually(lambda: _has(events_of(world, "mixed"), "WrongScheduler"))
    assert [name for name in await world.pod_groups() if name.startswith("mixed-")] == []
    assert controller.log()
    assert not any("Traceback" in line for line in controller.log())


async def _has(events, reason):
    return reason in await events


async def test_a_queue_that_does_not_exist_then_does(world, controller):
    """Said, no hot loop; as soon as the queue is there the group runs, without a restart."""
    await world.nodes(2)
    await controller.start()
    name = f"team-{world.namespace}"
    await world.create(leader_worker_set("queued", size=2, annotations={QUEUE: name}))
    condition = await condition_is(world, "queued", "QueueNotFound")
    assert name in condition["message"]
    before = len(writes(world))
    await asyncio.sleep(3)
    assert len(writes(world)) - before <= 2, writes(world)[before:]
    await world.create({"metadata": {"name": name}, "spec": {"weight": 1, "reclaimable": True}}, QUEUES)
    await world.running("queued", 2)
    await condition_is(world, "queued", "AllGroupsPlaced")


@pytest.mark.parametrize(("length", "pods"), [(50, 2), (52, 1), (54, 0)])
async def test_names_that_leave_no_room_in_the_labels_of_pods(world, controller, length, pods):
    """LWS takes them, its StatefulSets never get their pods: the condition says so, and how long a name may be."""
    await world.nodes(2)
    await controller.start()
    name = "n" * length
    await world.create(leader_worker_set(name, size=2))
    if pods == 2:
        await world.running(name, 2)
        await condition_is(world, name, "AllGroupsPlaced")
    else:
        condition = await condition_is(world, name, "NameTooLong")
        assert "at most 50 characters" in condition["message"]
        # The condition needs the name alone, and may be there before the pod is.
        assert await world.eventually(lambda: _count(world, name, pods))
        await asyncio.sleep(0.5)
        assert len(await world.pods(name)) == pods


async def _count(world, name, pods):
    return len(await world.pods(name)) == pods


@pytest.mark.parametrize(
    ("cpu", "memory", "sums"),
    [("1e3", "1.5Gi", {"cpu": "2k", "memory": "3Gi"}), ("0.5", "1e9", {"cpu": "1", "memory": "2000000000"})],
)
async def test_quantities_in_odd_spellings(world, controller, cpu, memory, sums):
    """Exponents and fractions add up exactly."""
    await controller.start()
    await world.create(leader_worker_set("odd", size=2, worker=pod_template(requests={"cpu": cpu, "memory": memory})))

    async def look():
        groups = [one for name, one in (await world.pod_groups()).items() if name.startswith("odd-")]
        assert len(groups) == 1
        return groups

    (group,) = await world.eventually(look)
    assert {key: _number(value) for key, value in group["spec"]["minResources"].items()} == {
        key: _number(value) for key, value in sums.items()
    }


def _number(text):
    """Units of a quantity, by the kubernetes package."""
    from kubernetes.utils.quantity import parse_quantity  # noqa: PLC0415 - slow to import

    return parse_quantity(text)


async def test_without_the_right_to_write_podgroups(world, controller):
    """It says which right is missing, and goes on by itself when it is given."""
    await world.nodes(2)
    without = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if verb in {"get", "list", "watch"}]}
        if "podgroups" in rule.get("resources", ())
        else rule
        for rule in rights()
    ]
    await controller.start(rules=without)
    await world.create(leader_worker_set("held", size=2))
    condition = await condition_is(world, "held", "WriteRefused")
    assert "podgroups" in condition["message"]
    before = len(writes(world))
    await asyncio.sleep(3)
    assert len(writes(world)) - before < 10
    await world.plane.kubeconfig_for(USER, rights())
    await world.running("held", 2, timeout=60)


@pytest.mark.long
@pytest.mark.timeout(300)  # the real scheduler takes up to a minute and a half to come back from it
async def test_api_server_away_for_half_a_minute(world, controller):
    """No restart of the process, no lost change: what was asked for in between is done as soon as it is back."""
    await world.nodes(4)
    await controller.start()
    await world.create(leader_worker_set("before", size=2))
    await world.running("before", 2)
    await world.plane.restart_apiserver(down=30)
    for name in ("kube-controller-manager", "kwok"):  # they back off for as long again, which is not what is asked
        await asyncio.to_thread(world.plane.stop_component, name)
        await world.plane.start_component(name)
    await world.create(leader_worker_set("after", size=2))
    await world.running("after", 2, timeout=150)
    controller.running.child.check()
    assert not any("Traceback" in line for line in controller.log())


async def test_started_before_lws_and_volcano_are_installed(tmp_path, programs):  # noqa: ARG001 - not beside another plane's
    """It says which kinds are missing, waits, and does its work when they are there."""
    async with ControlPlane() as plane, plane.api("test") as api:
        kinds = {one["metadata"]["name"]: one for one in await api.list(CRDS)}
        for name in kinds:
            await api.delete(CRDS, name)
        await api.create(NAMESPACES, {"metadata": {"name": "bare"}})
        world = World(plane, api, "bare", None)
        async with controller_of(world, tmp_path) as controller:
            await controller.start(wait=False)

            async def said():
                text = "\n".join(controller.log())
                return "podgroups.scheduling.volcano.sh" in text and "leaderworkersets" in text

            await world.eventually(said)
            for body in kinds.values():
                await api.create(CRDS, {"metadata": {"name": body["metadata"]["name"]}, "spec": body["spec"]})
            await start_programs(plane, period=0.1)
            await world.nodes(2)
            await asyncio.sleep(0.1)
            await world.create(leader_worker_set("patient", size=2))
            await world.running("patient", 2, timeout=90)
            await controller.stop()


async def test_pods_that_were_placed_while_the_webhook_was_away(world, controller):
    """They run, but in no gang: the condition is False and says how to mend it, and that mends it."""
    await world.nodes(4)
    await controller.start()
    await controller.kill()
    await world.create(leader_worker_set(replicas=2, size=2, worker=pod_template(requests={"cpu": "1"})))
    before = await world.running("demo", 4)
    await controller.start()
    condition = await condition_is(world, "demo", "PodNotInGang")
    assert condition["status"] == "False"
    assert "2 of 2 groups placed" in condition["message"]
    assert "delete its leader pod" in condition["message"]
    for leader in ("demo-0", "demo-1"):
        await world.api.delete(PODS, leader, world.namespace)

    await made_anew(world, "demo", before)
    condition = await condition_is(world, "demo", "AllGroupsPlaced")
    assert condition["status"] == "True"
