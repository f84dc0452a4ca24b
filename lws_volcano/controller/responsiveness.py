"""Keeps the event loop free to answer admission within milliseconds, beside large caches and long plans.

Two things of the interpreter would hold it up. A thread that plans a large set keeps the interpreter for 5 ms at a
time: seen at the loop, half of all wake-ups 14 ms late, 2 ms with the interval below. And a full garbage collection
walks through all caches: 130 ms with 20,000 pods, nothing once they are frozen. What is frozen is still freed when the
last reference goes, which is how replaced objects end; cycles among them are collected before each freeze.
"""

import gc
import sys
from collections.abc import Callable
from typing import Final

import structlog

from lws_volcano.kube.clock import Clock

__all__ = ["keep_caches_frozen", "switch_threads_often"]

_log = structlog.get_logger(__name__)

SWITCH: Final = 0.0005
"""Seconds that a thread keeps the interpreter while another wants it."""
FREEZE_AGAIN: Final = 300.0
"""Seconds between two freezes: as much as changes in between is walked through."""
_LOOK: Final = 1.0


def switch_threads_often() -> None:
    """Let the event loop have the interpreter soon while another thread works."""
    sys.setswitchinterval(SWITCH)


async def keep_caches_frozen(filled: Callable[[], bool], clock: Clock) -> None:
    """Take what there is out of garbage collection, from the moment that the caches are filled; never ends."""
    while not filled():
        await clock.sleep(_LOOK)
    while True:
        started = clock.monotonic()
        gc.collect()
        gc.freeze()
        _log.debug("caches frozen", objects=gc.get_freeze_count(), seconds=round(clock.monotonic() - started, 3))
        await clock.sleep(FREEZE_AGAIN)
