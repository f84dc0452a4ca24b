"""What becomes of a group when the cluster changes between its hints and its binding, and of leaders that come first.

Covers: nodes cordoned and taken in between, what is told of it, leaders of leader-first groups beside racks without
room for the rest, `required` whose domain lost its room, a lost member that is replaced. Left out: hints in a quiet
cluster (test_hints).
"""

import json

import pytest

from lws_volcano.api.names import PLACED, PLAN, REMADE, WORKER_INDEX
from tests.integration.api import CLUSTER_TOPOLOGIES, HYPER_NODES, NODES, PODS
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.test_hints import HARD, by_group, hinted, plan_of
from tests.integration.topologies import command, names, topology

GPUS = {"nvidia.com/gpu": "8"}
HELD = [{"name": "example.com/hold"}]
LEADER_FIRST = {"startupPolicy": "LeaderReady"}


async def racks(world, count):
    """Racks of four nodes under one spine, known and written."""
    await world.nodes(4 * count)
    found = {f"r{rack}": names(4, 4 * rack) for rack in range(count)}
    await world.api.apply(CLUSTER_TOPOLOGIES, topology(found), "test")

    async def written():
        return len(await world.api.list(HYPER_NODES)) == count + 1

    await world.eventually(written)
    return found


async def take(world, *nodes):
    """Somebody else's pods, one on each of these nodes, with all of its GPUs."""
    for node in nodes:
        spec = pod_template(limits=GPUS, scheduler="other", nodeName=node)["spec"]
        await world.create({"metadata": {"name": f"stranger-{node}"}, "spec": spec}, PODS)


async def let_go(world, lws):
    """Take the gate of the test's own off all pods of a set."""
    for pod in await world.pods(lws):
        gates = [gate for gate in pod["spec"].get("schedulingGates", []) if gate not in HELD]
        if len(gates) < len(pod["spec"].get("schedulingGates", [])):
            await world.api.patch(
                PODS, pod["metadata"]["name"], {"spec": {"schedulingGates": gates or None}}, world.namespace
            )


async def created(world, lws, count):
    """Wait until so many pods exist; gives them by rank."""

    async def look():
        pods = [pod for pod in await world.pods(lws) if not pod["metadata"].get("deletionTimestamp")]
        assert len(pods) == count, [pod["metadata"]["name"] for pod in pods]
        return sorted(pods, key=lambda pod: int(pod["metadata"]["labels"][WORKER_INDEX]))

    return await world.eventually(look)


def leaders_of(pods):
    """Those that are leaders."""
    return [pod for pod in pods if pod["metadata"].get("labels", {}).get(WORKER_INDEX) == "0"]


def held_to(pod):
    """Nodes that a pod's required terms name; empty where it may go anywhere."""
    required = ((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    expressions = [e for term in (required or {}).get("nodeSelectorTerms", []) for e in term["matchExpressions"]]
    return {node for expression in expressions for node in expression["values"]}


async def test_nodes_cordoned_and_taken_before_the_binding(world, controller):
    """The planned rack loses a node to a cordon, the next one to a stranger: the group runs whole in the third."""
    await controller.start()
    found = await racks(world, 3)
    worker = pod_template(limits=GPUS, schedulingGates=HELD)
    await world.create(leader_worker_set(size=4, worker=worker, annotations=HARD))
    pods = await created(world, "demo", 4)
    assert all(hinted(pod) for pod in pods)
    planned = plan_of(pods[0])["domain"]["name"]
    second, third = sorted(set(found) - {planned})
    await world.api.patch(NODES, found[planned][1], {"spec": {"unschedulable": True}})
    await take(world, found[second][2])
    await let_go(world, "demo")
    await world.running("demo", 4)
    pods = await created(world, "demo", 4)
    assert [pod["spec"]["nodeName"] for pod in pods] == found[third]


async def test_hints_that_could_not_be_followed_are_told(world, controller):
    """A planned node is cordoned in the only rack: ranks move on by one; metric, PodGroup and `status` say so."""
    await controller.start()
    found = (await racks(world, 1))["r0"]
    worker = pod_template(limits=GPUS, schedulingGates=HELD)
    await world.create(leader_worker_set(size=3, worker=worker, annotations=HARD))
    planned = [one["node"] for one in plan_of((await created(world, "demo", 3))[0])["pods"]]
    await world.api.patch(NODES, planned[1], {"spec": {"unschedulable": True}})
    await let_go(world, "demo")
    await world.running("demo", 3)
    pods = await created(world, "demo", 3)
    assert [pod["spec"]["nodeName"] for pod in pods] == [node for node in found if node != planned[1]]

    async def told():
        (group,) = (await world.pod_groups()).values()
        placed = json.loads(group["metadata"]["annotations"].get(PLACED, "{}"))
        assert (placed.get("domain"), placed.get("followed")) == ("r0", False), placed
        metrics = await controller.metrics()
        return metrics.get('lws_volcano_groups_by_hint{followed="no"}') == 1

    await world.eventually(told)
    _, text = await command(world, "status", "-n", world.namespace, "-o", "json")
    (row,) = json.loads(text)["groups"]
    assert (row["domain"], row["tier"], row["followed"]) == ("r0", 1, False)
    assert row["ringCost"] == row["plannedRingCost"] > 0
    _, text = await command(world, "status", "-n", world.namespace)
    assert "not followed" in text


@pytest.mark.parametrize("annotations", [HARD, {}], ids=["hard", "no topology asked for"])
async def test_leaders_that_come_first_go_where_their_group_has_room(world, controller, annotations):
    """Half-taken racks attract a leader alone; each group still runs whole, in one rack."""
    await controller.start()
    found = await racks(world, 4)
    await take(world, *found["r0"][:2], *found["r2"][:1])
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(replicas=2, size=4, annotations=annotations, **LEADER_FIRST))
        pods = await world.running("demo", 8)
    leaders = leaders_of(recorder.created("Pod"))
    assert all(held_to(pod) <= {*found["r1"], *found["r3"]} and held_to(pod) for pod in leaders)
    sat = [sorted(pod["spec"]["nodeName"] for pod in group) for group in by_group(pods).values()]
    assert sorted(sat) == [found["r1"], found["r3"]]


async def test_required_that_lost_its_room_is_made_anew_once(world, controller):
    """The rack it was held to is taken by others: its leader is deleted once, it is planned elsewhere, and runs."""
    await controller.start(settings={"remake_after": 1.0})
    found = await racks(world, 2)
    worker = pod_template(limits=GPUS, schedulingGates=HELD)
    required = {"lws-volcano.io/placement": "required"}
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(size=4, worker=worker, annotations=HARD | required))
        first = await created(world, "demo", 4)
        planned = plan_of(first[0])["domain"]["name"]
        (other,) = set(found) - {planned}
        assert [held_to(pod) for pod in first] == [set(found[planned])] * 4
        await take(world, found[planned][0])

        async def remade():
            pods = await created(world, "demo", 4)
            assert pods[0]["metadata"]["uid"] != first[0]["metadata"]["uid"]
            assert PLAN in pods[0]["metadata"]["annotations"]
            return [held_to(pod) for pod in pods] == [set(found[other])] * 4

        await world.eventually(remade, timeout=60)
        (group,) = (await world.pod_groups()).values()
        assert group["metadata"]["annotations"][REMADE] == f"1 {first[0]['metadata']['uid']}"
        await let_go(world, "demo")
        pods = await world.running("demo", 4)
    assert {pod["spec"]["nodeName"] for pod in pods} == set(found[other])
    leaders = leaders_of(recorder.created("Pod"))
    assert len(leaders) == 2

    async def forgotten():
        (group,) = (await world.pod_groups()).values()
        return REMADE not in group["metadata"]["annotations"]

    await world.eventually(forgotten)


async def test_a_lost_member_comes_back_beside_the_others(world, controller):
    """RestartPolicy None: a worker whose node broke gets the free node of its rack, not one in the empty rack."""
    await controller.start()
    found = await racks(world, 2)
    policy = {"restartPolicy": "None"}
    await world.create(leader_worker_set(size=3, annotations=HARD, **policy))
    before = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in await world.running("demo", 3)}
    (rack,) = [nodes for nodes in found.values() if set(before.values()) <= set(nodes)]
    (spare,) = set(rack) - set(before.values())
    await world.api.patch(NODES, before["demo-0-2"], {"spec": {"unschedulable": True}})
    await world.api.delete(PODS, "demo-0-2", world.namespace)

    async def back():
        pods = {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in await world.running("demo", 3)}
        return pods == {**before, "demo-0-2": spare}

    await world.eventually(back)
