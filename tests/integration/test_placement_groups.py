"""Placement groups on a real API server: prefill and decode sets end near each other.

Covers: both created at once (one rack for both, or one spine), one that follows a running one, and a domain that loses
its room before anybody is bound. Left out: the choice among domains in every case (tests/unit/placement,
tests/unit/webhook).
"""

import asyncio

import pytest

from tests.integration.api import CLUSTER_TOPOLOGIES, HYPER_NODES
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.test_hints import HARD, plan_of
from tests.integration.test_hints_in_time import GPUS, HELD, created, held_to, let_go, take
from tests.integration.topologies import names

RACKS = {f"r{rack}": names(4, 4 * rack) for rack in range(4)}
SPINES = {"s0": ("r0", "r1"), "s1": ("r2", "r3")}
NAMES = ("prefill", "decode")
TOGETHER = {"lws-volcano.io/placement-group": "chat"}


async def two_spines(world):
    """Four racks of four nodes under two spines, known and written."""
    await world.nodes(16)
    domains = [{"name": spine, "tier": "spine"} for spine in SPINES]
    domains += [
        {"name": rack, "tier": "rack", "parent": spine, "nodes": RACKS[rack]}
        for spine, racks in SPINES.items()
        for rack in racks
    ]
    body = {
        "apiVersion": "lws-volcano.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": "dc"},
        "spec": {"tiers": [{"name": "rack"}, {"name": "spine"}], "domains": domains},
    }
    await world.api.apply(CLUSTER_TOPOLOGIES, body, "test")

    async def written():
        return len(await world.api.list(HYPER_NODES)) == 6

    await world.eventually(written)


def racks_of(pods):
    """Racks that these pods sit in."""
    return {rack for rack, nodes in RACKS.items() for pod in pods if pod["spec"]["nodeName"] in nodes}


def spines_of(pods):
    """Spines that these pods sit in."""
    return {spine for spine, racks in SPINES.items() if racks_of(pods) & {*racks}}


async def both(world, prefill, decode):
    """Create two sets at once."""
    await asyncio.gather(world.create(prefill), world.create(decode))


@pytest.mark.parametrize("asked", [HARD, {}], ids=["hard", "no topology asked for"])
@pytest.mark.parametrize(("size", "racks"), [(2, 1), (4, 2)], ids=["one rack", "one spine"])
async def test_two_sets_at_once_end_near_each_other(world, controller, asked, size, racks):
    """Half-taken racks would do for the first alone: it goes where the other fits too, each group whole in a rack."""
    await controller.start()
    await two_spines(world)
    await take(world, *RACKS["r0"][:2], *RACKS["r1"][:2])
    tier = {"lws-volcano.io/placement-group-tier": "rack" if racks == 1 else "spine"}
    annotations = {**asked, **TOGETHER, **tier}
    await both(
        world,
        leader_worker_set("prefill", annotations=annotations),
        leader_worker_set("decode", size=size, annotations=annotations),
    )
    prefill, decode = await world.running("prefill", 2), await world.running("decode", size)
    assert len(racks_of(prefill)) == len(racks_of(decode)) == 1
    assert len(racks_of(prefill + decode)) == racks
    assert spines_of(prefill + decode) == {"s1"}


async def test_a_set_that_comes_later_goes_beside_the_one_that_runs(world, controller):
    """Its rack is full: the next rack of the same spine, not the fuller one of the other spine."""
    await controller.start()
    await two_spines(world)
    await take(world, *RACKS["r1"][:2], *RACKS["r3"][:1])
    await world.create(leader_worker_set("prefill", annotations=TOGETHER))
    assert racks_of(await world.running("prefill", 2)) == {"r1"}
    await world.create(leader_worker_set("decode", annotations=TOGETHER))
    decode = await world.running("decode", 2)
    assert racks_of(decode) == {"r0"}
    assert all(held_to(pod) == {*RACKS["r0"]} for pod in decode)


async def test_a_domain_that_loses_its_room_is_given_up_for_the_closest(world, controller):
    """Nodes are taken before the binding: both groups are made anew, and meet in the next rack of the spine."""
    await controller.start()
    await two_spines(world)
    worker = pod_template(limits=GPUS, schedulingGates=HELD)
    await take(world, *RACKS["r0"][:2], *RACKS["r1"][:2])
    sets = {name: leader_worker_set(name, worker=worker, annotations={**HARD, **TOGETHER}) for name in NAMES}
    await both(world, *sets.values())
    first = [(await created(world, name, 2))[0] for name in NAMES]
    (rack,) = {plan_of(leader)["domain"]["name"] for leader in first}
    (other,) = {*SPINES["s1"]} - {rack}
    # What is free is asked again after a while only; a new life asks at once.
    await controller.stop()
    await take(world, *RACKS[rack][:3])
    await controller.start(settings={"remake_after": 1.0})

    async def remade():
        pods = [pod for name in NAMES for pod in await created(world, name, 2)]
        return all(held_to(pod) == {*RACKS[other]} for pod in pods)

    await world.eventually(remade, timeout=60)
    for name in NAMES:
        await let_go(world, name)
    for name in NAMES:
        assert racks_of(await world.running(name, 2)) == {other}
