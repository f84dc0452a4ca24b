"""The work queue: each key once, never twice at a time, later when it failed.

Covers: de-duplication, keys added while worked on, delays, back-off. Leaves out: the workers.
"""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.controller.queue import WorkQueue
from tests.contract.clocks import ManualClock


async def test_a_key_waits_once() -> None:
    """However often it is added."""
    queue: WorkQueue[str] = WorkQueue(ManualClock())
    for key in ("a", "b", "a"):
        queue.add(key)
    assert [await queue.get(), await queue.get()] == ["a", "b"]
    assert len(queue) == 0


async def test_a_key_added_while_worked_on_comes_again_afterwards() -> None:
    """Not before: two workers never have the same key."""
    queue: WorkQueue[str] = WorkQueue(ManualClock())
    queue.add("a")
    key = await queue.get()
    queue.add("a")
    assert len(queue) == 0
    queue.done(key)
    assert await queue.get() == "a"


async def test_delayed_keys_come_in_their_time() -> None:
    """The earlier of two delays counts, and adding at once overrides both."""
    clock = ManualClock()
    queue: WorkQueue[str] = WorkQueue(clock)
    running = asyncio.create_task(queue.run())
    await clock.run(0)
    queue.add_after("late", 20)
    queue.add_after("soon", 5)
    queue.add_after("late", 10)
    queue.add_after("late", 30)
    await clock.run(6)
    assert len(queue) == 1
    await clock.run(5)
    assert len(queue) == 2
    await clock.run(30)
    assert len(queue) == 2
    queue.add_after("now", 10)
    queue.add("now")
    await clock.run(20)
    assert len(queue) == 3
    running.cancel()


async def test_failures_of_a_key_make_it_wait_longer_up_to_a_limit() -> None:
    """And a success makes the next failure the first."""
    queue: WorkQueue[str] = WorkQueue(ManualClock(), first=1.0, limit=8.0)
    assert [queue.retry("a") for _ in range(5)] == [1, 2, 4, 8, 8]
    assert queue.retry("b") == 1
    queue.forget("a")
    assert queue.retry("a", at_least=3.0) == 3.0


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["add", "get", "done"])), max_size=60))
def test_every_added_key_is_worked_on_after_it_was_added(steps: list[tuple[str, str]]) -> None:
    """No addition is lost, and no key is out twice, in any interleaving."""
    asyncio.run(_walk(steps))


async def _walk(steps: list[tuple[str, str]]) -> None:
    queue: WorkQueue[str] = WorkQueue(ManualClock())
    out: list[str] = []
    owed: set[str] = set()
    for key, what in steps:
        if what == "add":
            queue.add(key)
            owed.add(key)
        elif what == "get" and len(queue):
            taken = await queue.get()
            assert taken not in out
            out.append(taken)
            owed.discard(taken)
        elif what == "done" and out:
            queue.done(out.pop(0))
    for key in out:
        queue.done(key)
    left = {await queue.get() for _ in range(len(queue))}
    assert left == owed


async def test_keys_that_failed_come_soon_once_the_cause_is_gone() -> None:
    """An outage has ended: their back-off is over, that of keys which only wait for a moment in time is not."""
    clock = ManualClock(chance=0.5)
    queue: WorkQueue[str] = WorkQueue(clock)
    running = asyncio.create_task(queue.run())
    for _ in range(10):
        queue.retry("failed")
    queue.add_after("waits", 20.0)
    await clock.run(0)
    queue.hurry(within=1.0)
    await clock.run(0.6)
    assert len(queue) == 1
    assert await queue.get() == "failed"
    assert queue.retry("failed") < 1.0
    running.cancel()
