"""Groups whose leader comes first: LeaderReady and exclusive topology (rows 1, 1b and 2 of the policies).

Covers: the two steps of the minimum, back and up again at a restart, gates, a group that is stranded and released.
Left out: hints for such leaders (placement).
"""

import asyncio

import pytest

from lws_volcano.api.names import MINIMUM_GATE
from tests.integration.api import LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import controller_of
from tests.integration.expectations import (
    GPU,
    condition_is,
    events_of,
    groups_are,
    history,
    keys,
    minimums,
    small_pod,
    uids,
)
from tests.integration.rightness import settled

RACK = "example.com/rack"
LWS = "leaderworkerset.sigs.k8s.io/"
SUB_GROUPS = {"subGroupPolicy": {"subGroupSize": 2}}
FIRST, WHOLE = (1, {"leader": 1}), (4, {"leader": 1, "worker": 3})
HELD = {"lws-volcano.io/test-never-ready": "true"}
LEADER_FIRST = pytest.mark.parametrize(
    "how",
    [
        pytest.param({"startupPolicy": "LeaderReady"}, id="LeaderReady"),
        pytest.param({"annotations": {LWS + "exclusive-topology": RACK}}, id="exclusive"),
        pytest.param({"annotations": {LWS + "subgroup-exclusive-topology": RACK}, **SUB_GROUPS}, id="sub-exclusive"),
    ],
)


@LEADER_FIRST
async def test_the_leader_first_then_the_whole_group_also_after_a_restart(watched, how):
    """Minimum 1, then 4 once the leader has a node; a leader that comes back alone takes it back and up again.

    The old leader is held by a finalizer until its workers are gone, so that the new one can't lean on them.
    """
    await watched.nodes(8)
    await watched.create(leader_worker_set(size=4, worker=small_pod(), **how))
    before = keys(await watched.running("demo", 4))
    (group,) = await groups_are(watched, "demo", "0")
    name = group["metadata"]["name"]
    assert minimums(watched.events, name) == [FIRST, WHOLE]
    assert history(watched.events, name)[0]["spec"]["minResources"] == {GPU: "4"}
    await watched.api.patch(PODS, "demo-0", {"metadata": {"finalizers": ["example.com/hold"]}}, watched.namespace)
    await watched.api.delete(PODS, "demo-0", watched.namespace)

    async def alone():
        return [pod["metadata"]["name"] for pod in await watched.pods("demo")] == ["demo-0"]

    await watched.api.delete(STATEFUL_SETS, "demo-0", watched.namespace, propagationPolicy="Background")
    await watched.eventually(alone)
    await watched.api.patch(PODS, "demo-0", {"metadata": {"finalizers": None}}, watched.namespace)

    async def remade():
        return not uids(await watched.running("demo", 4)) & {*before.values()}

    await watched.eventually(remade, 60)
    await settled(watched)
    steps = [step for step in minimums(watched.events, name) if step in (FIRST, WHOLE)]
    assert steps == [FIRST, WHOLE, FIRST, WHOLE]
    assert uids(history(watched.events, name)) == {group["metadata"]["uid"]}


async def test_a_worker_admitted_too_early_is_gated_until_the_minimum_is_final(watched):
    """The exclusive group's workers: whatever the order of events, each gate that was put on is off in the end."""
    await watched.nodes(8)
    annotations = {LWS + "exclusive-topology": RACK}
    await watched.create(leader_worker_set(replicas=2, size=4, worker=small_pod(), annotations=annotations))
    await watched.running("demo", 8)
    for pod in await watched.pods("demo"):
        assert MINIMUM_GATE not in [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    by_group = {}
    for pod in await watched.pods("demo"):
        node = pod["spec"]["nodeName"]
        by_group.setdefault(pod["metadata"]["name"].split("-")[1], set()).add(int(node.split("-")[1]) // 4)
    assert sorted(map(len, by_group.values())) == [1, 1]
    assert by_group["0"] != by_group["1"]


async def _strand(world):
    """While the leader starts, others take the room of its workers."""
    leader = small_pod(8, annotations=HELD)
    await world.create(leader_worker_set(size=3, leader=leader, worker=small_pod(8), startupPolicy="LeaderReady"))
    (first,) = await world.eventually(lambda: _bound(world))
    nodes = await world.nodes(3)
    for place, node in enumerate(sorted({*nodes} - {first["spec"]["nodeName"]})):
        taker = {**small_pod(8), "metadata": {"name": f"taker-{place}"}}
        await world.create({**taker, "spec": {**taker["spec"], "nodeName": node}}, PODS)
    await _let_go(world)


async def _bound(world):
    return [pod for pod in await world.pods("demo") if pod["spec"].get("nodeName")]


async def _let_go(world):
    """The leader becomes Ready."""
    unheld = {"metadata": {"annotations": dict.fromkeys(HELD)}}
    await world.api.patch(PODS, "demo-0", unheld, world.namespace)


async def test_a_stranded_group_is_reported_and_goes_on_when_there_is_room(watched):
    """Leader placed, workers without room: the condition says so, with the resource; with room it runs."""
    await watched.nodes(3)
    await _strand(watched)
    condition = await condition_is(watched, "demo", "Stranded")
    assert "1 of 3" in condition["message"]
    for place in (0, 1):
        await watched.api.delete(PODS, f"taker-{place}", watched.namespace)
    await watched.running("demo", 3)
    await condition_is(watched, "demo", "AllGroupsPlaced")


async def test_a_stranded_group_is_released_once_where_the_configuration_says_so(world, tmp_path):
    """Its leader is deleted one time: the group gives its node back, waits as a whole, and runs when there is room.

    The cluster then is exactly full: what lets the group's workers in is that their leader runs (`Unknown`).
    """
    await world.nodes(3)
    async with controller_of(world, tmp_path) as controller, world.recorder() as recorder:
        settings = {"stranded_after": 1.0, "release_stranded": True}
        await controller.start("--no-leader-elect", settings=settings)
        await _strand(world)

        async def remade():
            return "LeaderRemade" in await events_of(world, "demo")

        await world.eventually(remade)

        async def again():
            pods = [event for event in recorder.of("Pod", "ADDED") if event.name == "demo-0"]
            return len(pods) == 2

        await world.eventually(again)

        async def said():
            lws = await world.api.get(LEADER_WORKER_SETS, "demo", world.namespace)
            return any("released once" in one["message"] for one in lws["status"]["conditions"])

        await world.eventually(said)
        # Where Volcano had let the PodGroup in before, the leader gets a node again: no second release may come.
        await asyncio.sleep(3)
        for place in (0, 1):
            await world.api.delete(PODS, f"taker-{place}", world.namespace)
        await world.eventually(lambda: _bound(world))
        await _let_go(world)
        await world.running("demo", 3)
        assert len([one for one in recorder.of("Pod", "ADDED") if one.name == "demo-0"]) == 2
        await controller.stop()
