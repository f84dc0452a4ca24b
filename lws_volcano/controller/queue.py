"""Keys that have to be looked at, each at most once at a time.

A key that is added while it waits is the same wait; one that is added while it is worked on comes again afterwards
(dirty and processing sets). Failures of a key make its next wait longer.

Source of the semantics: client-go util/workqueue. Ours because asyncio.Queue neither de-duplicates nor delays.
"""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from lws_volcano.kube.clock import Clock
from lws_volcano.observe import metrics

__all__ = ["WorkQueue"]

K = TypeVar("K", bound=Hashable)

FIRST_RETRY = 0.05
LAST_RETRY = 60.0


class WorkQueue(Generic[K]):
    """A de-duplicating, delaying queue for one event loop.

    `run` must be running for delayed keys to come; `get` and `done` bracket the work on a key.
    """

    def __init__(self, clock: Clock, first: float = FIRST_RETRY, limit: float = LAST_RETRY) -> None:
        self._clock = clock
        self._first = first
        self._limit = limit
        self._ready: OrderedDict[K, float] = OrderedDict()
        self._processing: set[K] = set()
        self._again: set[K] = set()
        self._failures: dict[K, int] = {}
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._count = 0
        self._some_ready = asyncio.Event()
        self._some_delayed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def delayed(self) -> int:
        """Keys that come later."""
        return len(self._due)

    def add(self, key: K) -> None:
        """Look at this key as soon as possible."""
        self._due.pop(key, None)
        if key in self._processing:
            self._again.add(key)
        elif key not in self._ready:
            self._ready[key] = self._clock.monotonic()
            self._some_ready.set()

    def add_after(self, key: K, seconds: float) -> None:
        """Look at this key after so many seconds, or earlier where that was asked for."""
        if seconds <= 0:
            self.add(key)
            return
        at = self._clock.monotonic() + seconds
        if key in self._ready or key in self._again or self._due.get(key, at + 1) <= at:
            return
        self._due[key] = at
        self._count += 1
        heapq.heappush(self._heap, (at, self._count, key))
        self._some_delayed.set()

    def retry(self, key: K, at_least: float = 0.0) -> float:
        """Look at this key again after a failure; gives the seconds until then."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        grown = min(self._first * 2.0 ** min(failures, 30), self._limit)
        seconds = max(grown * (1 + 0.2 * self._clock.random()), at_least)
        self.add_after(key, seconds)
        return seconds

    def hurry(self, within: float = 1.0) -> None:
        """What kept keys from working is over: those that wait because they failed come soon, spread over `within`."""
        for key in self._failures.keys() & self._due.keys():
            self._failures[key] = 0
            self.add_after(key, within * self._clock.random())

    def forget(self, key: K) -> None:
        """The key has worked: its next failure is its first."""
        self._failures.pop(key, None)

    async def get(self) -> K:
        """The next key; `done` must follow."""
        while not self._ready:
            self._some_ready.clear()
            await self._some_ready.wait()
        key, since = self._ready.popitem(last=False)
        self._processing.add(key)
        metrics.QUEUE_WAIT.observe(self._clock.monotonic() - since)
        return key

    def done(self, key: K) -> None:
        """The work on this key has ended; it comes again at once if it was added meanwhile."""
        self._processing.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def clear(self) -> None:
        """Forget every key that is not worked on."""
        self._ready.clear()
        self._again.clear()
        self._due.clear()
        self._failures.clear()

    async def run(self) -> None:
        """Bring delayed keys when their time has come; ends only by being cancelled."""
        while True:
            seconds = self._bring()
            if seconds is None:
                self._some_delayed.clear()
                await self._some_delayed.wait()
            else:
                await self._sleep(seconds)

    def _bring(self) -> float | None:
        """Bring what is due; gives the seconds until the next is, None when there is none."""
        now = self._clock.monotonic()
        while self._heap:
            at, _, key = self._heap[0]
            if self._due.get(key) != at:
                heapq.heappop(self._heap)
            elif at <= now:
                heapq.heappop(self._heap)
                self.add(key)
            else:
                return at - now
        return None

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but not through the arrival of something earlier."""
        self._some_delayed.clear()
        sleep = asyncio.ensure_future(self._clock.sleep(seconds))
        arrival = asyncio.ensure_future(self._some_delayed.wait())
        try:
            await asyncio.wait((sleep, arrival), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            arrival.cancel()
            await asyncio.gather(sleep, arrival, return_exceptions=True)
