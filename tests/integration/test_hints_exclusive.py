"""Hints for LWS exclusive topology on a real API server: a group has a rack to itself, and its leader chooses it.

Covers: leaders beside racks without room, beside racks where another group of the namespace sits, workers in the domain
that LWS then demands, an ordinary group that is held to its place beside an exclusive one. Left out: sub-groups with a
domain each (tests/unit/placement), the steps of the minimum (test_policies_startup).
"""

from deploy.local.nodes import RACK
from tests.integration.api import NODES
from tests.integration.builders import leader_worker_set
from tests.integration.test_hints import by_group, hinted, plan_of
from tests.integration.test_hints_in_time import held_to, leaders_of, racks, take

EXCLUSIVE = {"leaderworkerset.sigs.k8s.io/exclusive-topology": RACK}


async def demanded(world, pods):
    """Nodes that LWS lets the workers of a group go to, by the node selector it gave them."""
    (value,) = {pod["spec"]["nodeSelector"][RACK] for pod in pods[1:]}
    return {one["metadata"]["name"] for one in await world.api.list(NODES, labelSelector=f"{RACK}={value}")}


async def test_leaders_lead_their_groups_to_racks_with_room(world, controller):
    """Half-taken racks are not in the leaders' lists; workers are demanded, hinted and placed where the leader went."""
    await controller.start()
    found = await racks(world, 4)
    await take(world, *found["r0"][:2], *found["r2"][:1])
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(replicas=2, size=4, annotations=EXCLUSIVE))
        pods = await world.running("demo", 8)
    leaders = leaders_of(recorder.created("Pod"))
    assert all(held_to(pod) <= {*found["r1"], *found["r3"]} and held_to(pod) for pod in leaders)
    sat = []
    for group in by_group(pods).values():
        nodes = [pod["spec"]["nodeName"] for pod in group]
        assert {*nodes} <= await demanded(world, group)
        assert all(hinted(pod) for pod in group)
        sat.append(nodes)
    assert sorted(sat) == [found["r1"], found["r3"]]


async def test_a_rack_with_another_group_is_not_offered(world, controller):
    """It is the fullest with room, but LWS forbids it, so the leader is not sent there."""
    await controller.start()
    found = await racks(world, 3)
    await world.create(leader_worker_set("others"))
    others = {pod["spec"]["nodeName"] for pod in await world.running("others", 2)}
    (shared,) = [nodes for nodes in found.values() if others & {*nodes}]
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(size=2, annotations=EXCLUSIVE))
        pods = await world.running("demo", 2)
    (leader,) = [pod for pod in leaders_of(recorder.created("Pod")) if pod["metadata"]["name"] == "demo-0"]
    assert held_to(leader)
    assert not held_to(leader) & {*shared}
    planned = [one["node"] for one in plan_of(leader)["pods"]]
    assert [pod["spec"]["nodeName"] for pod in pods] == planned
    assert {*planned} <= await demanded(world, pods)


async def test_an_ordinary_group_is_not_held_to_the_rack_of_an_exclusive_one(world, controller):
    """The fullest rack with room has one group to itself: with `required` a group sent there would never run."""
    await controller.start()
    found = await racks(world, 3)
    await world.create(leader_worker_set("alone", annotations=EXCLUSIVE))
    alone = {pod["spec"]["nodeName"] for pod in await world.running("alone", 2)}
    (shut,) = [nodes for nodes in found.values() if alone & {*nodes}]
    await world.create(leader_worker_set(size=2, annotations={"lws-volcano.io/placement": "required"}))
    pods = await world.running("demo", 2)
    assert not {pod["spec"]["nodeName"] for pod in pods} & {*shut}
    assert [pod["spec"]["nodeName"] for pod in pods] == [one["node"] for one in plan_of(pods[0])["pods"]]
