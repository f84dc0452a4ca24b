"""A network and an API server that misbehave for a while: the end is exactly right, and nothing is done in a hurry.

The controller reaches the API server through a faulty proxy; LeaderWorkerSet, Volcano and the test reach it directly.
Covers: every fault of `tests.integration.proxy` mixed, writes whose answer is lost, a stall in which every byte stops.
Left out: single faults in a known order (tests/contract), an API server that is gone altogether (test_trouble).
"""

import asyncio
import os
import time
from collections import Counter

import pytest
import pytest_asyncio

from tests.integration.builders import leader_worker_set
from tests.integration.controllers import USER, controller_of, rights
from tests.integration.expectations import small_pod
from tests.integration.observer import Observer
from tests.integration.proxy import FAULTS, HELD_UP, faulty_proxy
from tests.integration.rightness import settled

SEED = int(os.environ.get("LWS_VOLCANO_SEED", "1"))
KINDS = 12
"""Kinds that the controller watches, the election and the certificate not counted."""


@pytest_asyncio.fixture
async def proxied(world, tmp_path):
    """A controller behind a faulty proxy that behaves for now, and the proxy."""
    async with (
        controller_of(world, tmp_path) as controller,
        faulty_proxy(world.plane, USER, rights(), seed=SEED) as (proxy, kubeconfig),
    ):
        await world.nodes(8)
        await controller.start(kubeconfig=kubeconfig)
        yield controller, proxy
        await controller.stop()


@pytest_asyncio.fixture
async def observed(world):
    """The world with the observer on.

    The controller is cut off now and then, so empty PodGroups may stay longer; a deletion that the proxy holds up comes
    after the look for new pods that went before it.
    """
    async with world.recorder() as recorder:
        observer = Observer(recorder, empty=60.0, unseen=HELD_UP + 1.0)
        world.recording, world.check = recorder, observer.check
        yield world
        world.check = lambda: None
        await observer.finish()


@pytest.mark.long
@pytest.mark.timeout(240)
async def test_scaling_through_every_sort_of_fault(observed, proxied):
    """A third of all requests fail in all ways there are, while a set grows, shrinks, restarts and goes."""
    world, (controller, proxy) = observed, proxied
    await world.create(leader_worker_set("steady", replicas=2, size=3, worker=small_pod()))
    await world.running("steady", 6)
    began = time.monotonic()
    proxy.misbehave(0.35)
    await world.create(leader_worker_set("moving", replicas=3, size=2, worker=small_pod()))
    for replicas in (6, 2, 5, 1, 4):
        await asyncio.sleep(5)
        await world.scale("moving", replicas)
        world.check()
    proxy.misbehave(0.0)
    lasted = time.monotonic() - began
    await settled(world, timeout=90)
    print(f"seed {SEED}, {lasted:.0f} s: {dict(proxy.injected)}")  # noqa: T201 - to repeat a failure
    assert set(FAULTS) <= set(proxy.injected), "the time was too short to try every fault"
    _nothing_wrong(controller)
    _no_hurry(proxy, began, lasted)


async def test_a_stall_of_the_api_server(observed, proxied):
    """Not a byte for twenty seconds, on open connections too: what was asked for meanwhile is done afterwards."""
    world, (controller, proxy) = observed, proxied
    await world.create(leader_worker_set("before", replicas=1, size=2, worker=small_pod()))
    await world.running("before", 2)
    proxy.stall()
    began = time.monotonic()
    await world.create(leader_worker_set("meanwhile", replicas=2, size=2, worker=small_pod()))
    await world.scale("before", 3)
    await asyncio.sleep(20)
    proxy.move()
    await settled(world, timeout=60)
    _nothing_wrong(controller)
    _no_hurry(proxy, began, 20.0)


def _nothing_wrong(controller):
    """It is the same process still, and no traceback is in its log."""
    controller.running.child.check()
    assert not [line for line in controller.log() if "Traceback" in line]


def _no_hurry(proxy, began, lasted):
    """Retries wait: no path was asked more often than once in 0.4 s on average, nor ten times within half a second."""
    during = [one for one in proxy.asked if began <= one.time < began + lasted and one.method == "GET"]
    per_path = Counter(one.path for one in during)
    assert all(count <= lasted / 0.4 for count in per_path.values()), per_path.most_common(3)
    assert len(during) <= KINDS * lasted, len(during)
    for path in per_path:
        times = [one.time for one in during if one.path == path]
        assert all(later - first > 0.5 for first, later in zip(times, times[10:], strict=False)), path
