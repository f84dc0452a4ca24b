"""What keeps the event loop free: caches out of garbage collection, threads that give way.

Covers: when the freeze comes, and that it comes again. Leaves out: what it saves (benchmarks).
"""

import asyncio
import gc
import sys
from collections.abc import Iterator

import pytest

from lws_volcano.controller.responsiveness import FREEZE_AGAIN, SWITCH, keep_caches_frozen, switch_threads_often
from tests.contract.clocks import ManualClock


@pytest.fixture(autouse=True)
def interpreter() -> Iterator[None]:
    """The interpreter, as it was afterwards."""
    interval = sys.getswitchinterval()
    gc.unfreeze()
    yield
    gc.unfreeze()
    sys.setswitchinterval(interval)


async def test_caches_are_frozen_once_they_are_filled_and_again_later() -> None:
    """Not before: half a list would be frozen."""
    clock, filled = ManualClock(), False
    task = asyncio.create_task(keep_caches_frozen(lambda: filled, clock))
    await clock.run(10)
    assert gc.get_freeze_count() == 0
    filled = True
    await clock.run(2)
    first = gc.get_freeze_count()
    assert first > 0
    kept = [[[]] for _ in range(1000)]
    await clock.run(FREEZE_AGAIN)
    assert gc.get_freeze_count() >= first + len(kept)
    task.cancel()


def test_threads_give_way_soon() -> None:
    """Ten times sooner than by default."""
    switch_threads_often()
    assert sys.getswitchinterval() == pytest.approx(SWITCH)
