"""Finding the set behind a pod: cache first, one shared read, absence remembered briefly, failure and hang-ups.

Left out: the read itself (`gateway`, on the real control plane).
"""

import asyncio

import pytest

from lws_volcano.api.errors import ClusterError
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.webhook.lookup import Lookup, LookupFailedError, Source

DEMO = LeaderWorkerSet.parse({"metadata": {"namespace": "a", "name": "demo"}})


class Reader:
    """A read that answers when it is let."""

    def __init__(self, result):
        self.result = result
        self.reads = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, *_):
        """The result, once the gate is open."""
        self.reads += 1
        await self.gate.wait()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Ticks:
    """A clock moved by hand."""

    now = 0.0

    def __call__(self):
        """Now."""
        return self.now


def lookup(reader, *, cached=None, clock=None, timeout=5.0):
    """A lookup over a cache that holds one answer."""
    return Lookup(Source(cached=lambda *_: cached, read=reader, clock=clock or Ticks(), timeout=timeout))


async def test_cache_answers_without_a_read():
    """What the cache has is not read."""
    reader = Reader(DEMO)
    assert await lookup(reader, cached=DEMO).find("a", "demo") is DEMO
    assert reader.reads == 0


async def test_pods_that_ask_together_share_a_read():
    """A hundred pods of a set that the cache has not seen yet cost one read."""
    reader = Reader(DEMO)
    reader.gate.clear()
    found = lookup(reader)
    asked = [asyncio.create_task(found.find("a", "demo")) for _ in range(100)]
    await asyncio.sleep(0)
    reader.gate.set()
    assert await asyncio.gather(*asked) == [DEMO] * 100
    assert reader.reads == 1


async def test_absence_is_remembered_for_a_moment():
    """Pods with a stray label don't become a read each; a set made later is found."""
    reader, clock = Reader(None), Ticks()
    found = lookup(reader, clock=clock)
    assert [await found.find("a", "demo") for _ in range(3)] == [None] * 3
    assert reader.reads == 1
    reader.result, clock.now = DEMO, 3.0
    assert await found.find("a", "demo") is DEMO


@pytest.mark.parametrize("failure", [ClusterError("503"), TimeoutError()])
async def test_failed_read_is_said_and_not_remembered(failure):
    """Refused or out of time: LookupFailedError, and the next pod tries again."""
    reader = Reader(failure)
    found = lookup(reader)
    with pytest.raises(LookupFailedError, match="a/demo"):
        await found.find("a", "demo")
    reader.result = DEMO
    assert await found.find("a", "demo") is DEMO


async def test_slow_read_is_given_up():
    """The API server waits for us: a read has its own short timeout."""
    reader = Reader(DEMO)
    reader.gate.clear()
    with pytest.raises(LookupFailedError, match="timeout"):
        await lookup(reader, timeout=0.01).find("a", "demo")


async def test_one_caller_hanging_up_does_not_harm_the_others():
    """The first caller's cancellation leaves the read to those who wait with it."""
    reader = Reader(DEMO)
    reader.gate.clear()
    found = lookup(reader)
    first, second = (asyncio.create_task(found.find("a", "demo")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    reader.gate.set()
    assert await second is DEMO
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_close_ends_reads():
    """Nothing is left running."""
    reader = Reader(DEMO)
    reader.gate.clear()
    found = lookup(reader)
    waiting = asyncio.create_task(found.find("a", "demo"))
    await asyncio.sleep(0)
    await found.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
