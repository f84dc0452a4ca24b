"""Groups that come at the same moment on a real API server: no two are sent to one place.

Covers: two sets with room for exactly two groups. Left out: groups of one set, two replicas (test_hints).
"""

import asyncio

import pytest

from tests.integration.builders import leader_worker_set
from tests.integration.test_hints import HARD
from tests.integration.test_hints_in_time import created, racks, take

SOFT = {**HARD, "volcano.sh/network-topology-mode": "soft"}


@pytest.mark.parametrize("asked", [HARD, SOFT, {}], ids=["hard", "soft", "no topology asked for"])
async def test_two_sets_with_room_for_exactly_two(world, controller, asked):
    """Two empty racks and half of one: each group has a rack to itself, its ranks in the order of the rack."""
    await controller.start()
    found = await racks(world, 3)
    await take(world, *found["r1"][:2])
    sets = [leader_worker_set(name, size=4, annotations=asked) for name in ("one", "two")]
    await asyncio.gather(*map(world.create, sets))
    for name in ("one", "two"):
        await world.running(name, 4)
    sat = [[pod["spec"]["nodeName"] for pod in await created(world, name, 4)] for name in ("one", "two")]
    assert sorted(sat) == [found["r0"], found["r2"]]
