"""When workers work, and what an unexpected failure of one key does to the others.

Covers: leadership, caches, what Volcano can do, a pass that raises. Leaves out: passes themselves.
"""

import asyncio
from dataclasses import dataclass

from lws_volcano.controller.gate import Gate
from lws_volcano.controller.leader_election import Alone
from lws_volcano.controller.outcome import Ok, Outcome, RequeueAfter, Terminal
from lws_volcano.controller.queue import WorkQueue
from lws_volcano.controller.workers import Workers
from lws_volcano.state.cluster import Area, Cluster, Key
from tests.contract.clocks import ManualClock


def filled() -> Cluster:
    """A cluster whose caches are filled."""
    cluster = Cluster()
    for kind in cluster.kinds.of_pass():
        kind.store.replace([], 1)
    return cluster


def test_all_three_must_hold() -> None:
    """Leading, informed, and caches filled, in whatever order; every opening looks at everything."""
    opened: list[bool] = []
    cluster = filled()
    gate = Gate(cluster, lambda: opened.append(True))
    gate.lead(leading=True)
    assert not gate.open.is_set()
    gate.informed()
    assert gate.open.is_set()
    gate.lead(leading=False)
    assert not gate.open.is_set()
    gate.lead(leading=True)
    assert len(opened) == 2
    cluster.kinds.pods.store.clear("no permission any more")
    cluster.readiness_changed()
    assert not gate.open.is_set()


def test_an_optional_kind_that_is_known_to_be_missing_does_not_hold_it() -> None:
    """Nobody needs queues to be readable."""
    cluster = filled()
    gate = Gate(cluster, lambda: None)
    cluster.kinds.queues.store.clear("no permission")
    gate.informed()
    gate.lead(leading=True)
    assert gate.open.is_set()


@dataclass
class Passes:
    """Reconciler of the tests: outcomes by key."""

    outcomes: dict[str, list[Outcome | Exception]]
    made: list[str]

    async def __call__(self, key: str) -> Outcome:
        """Give or raise the next outcome of the key."""
        self.made.append(key)
        outcome = self.outcomes[key].pop(0) if self.outcomes.get(key) else Ok()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def work(passes: Passes, *keys: str, seconds: float) -> None:
    """Let two workers work for a while."""
    clock = ManualClock()
    queue: WorkQueue[Key] = WorkQueue(clock)
    gate = asyncio.Event()
    gate.set()
    workers = Workers(queue, {Area.LWS: passes}, Alone(), gate, clock, count=2)
    for key in keys:
        queue.add(Key(Area.LWS, key))
    tasks = [asyncio.create_task(workers.run()), asyncio.create_task(queue.run())]
    await clock.run(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_pass_that_raises_is_tried_again_and_harms_no_other() -> None:
    """A defect in one set's pass is that set's alone."""
    passes = Passes({"bad": [ValueError("boom"), ValueError("boom")]}, [])
    await work(passes, "bad", "good", seconds=10)
    assert passes.made.count("bad") == 3
    assert passes.made.count("good") == 1


async def test_outcomes_decide_what_comes_next() -> None:
    """Later, or not until something changes."""
    passes = Passes({"later": [RequeueAfter(5)], "never": [Terminal(ValueError("bad input"))]}, [])
    await work(passes, "later", "never", seconds=4)
    assert sorted(passes.made) == ["later", "never"]
    passes = Passes({"later": [RequeueAfter(5)]}, [])
    await work(passes, "later", seconds=6)
    assert passes.made == ["later", "later"]
