"""Workers: keys from the queue to the reconciler of their area, outcomes back to the queue."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from lws_volcano.controller.leader_election import Leadership
from lws_volcano.controller.outcome import Failed, Ok, Outcome, RequeueAfter, Terminal
from lws_volcano.controller.queue import WorkQueue
from lws_volcano.kube.clock import Clock
from lws_volcano.observe import metrics
from lws_volcano.state.cluster import Area, Key

__all__ = ["Reconcile", "Workers"]

_log = structlog.get_logger(__name__)

Reconcile = Callable[[str], Awaitable[Outcome]]
"""One pass over one key (its name)."""

_SETTLED: Final = {Ok: "ok", RequeueAfter: "requeue", Failed: "error", Terminal: "terminal"}


@dataclass
class Workers:
    """`count` of them, working while this replica leads and the caches are filled.

    `gate` is set when both hold.
    """

    queue: WorkQueue[Key]
    reconcilers: Mapping[Area, Reconcile]
    leadership: Leadership
    gate: asyncio.Event
    clock: Clock
    count: int = 8

    async def run(self) -> None:
        """Work; ends only by being cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(self.count):
                tasks.create_task(self._work(), name=f"worker-{number}")

    async def _work(self) -> None:
        while True:
            await self.gate.wait()
            key = await self.queue.get()
            try:
                await self._one(key)
            finally:
                self.queue.done(key)

    async def _one(self, key: Key) -> None:
        if not (self.gate.is_set() and self.leadership.may_write()):
            # Whoever leads next looks at every key.
            return
        started = self.clock.monotonic()
        with structlog.contextvars.bound_contextvars(**{key.area.value: key.name}):
            try:
                outcome = await self.reconcilers[key.area](key.name)
            except Exception as error:  # noqa: BLE001 - one bad key must not stop the others
                _log.exception("pass failed unexpectedly")
                outcome = Failed(error)
            self._settle(key, outcome)
        metrics.RECONCILES.labels(key.area.value, _SETTLED[type(outcome)]).inc()
        metrics.RECONCILE_SECONDS.labels(key.area.value).observe(self.clock.monotonic() - started)

    def _settle(self, key: Key, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            seconds = self.queue.retry(key, outcome.at_least)
            _log.warning("pass failed, trying again", error=str(outcome.error), after=round(seconds, 2))
            return
        self.queue.forget(key)
        if isinstance(outcome, RequeueAfter):
            self.queue.add_after(key, outcome.seconds)
        elif isinstance(outcome, Terminal):
            _log.warning("cannot go on until something changes", error=str(outcome.error))
