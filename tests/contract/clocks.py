"""Clocks for tests: one that is moved by hand, one that runs fast, one that never waits."""

import asyncio
import heapq
import time
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class ManualClock:
    """Stands still until `run` moves it, waking sleepers in their order. For code that waits on nothing else."""

    def __init__(self, chance: float = 0.0) -> None:
        self._seconds = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self.chance = chance

    def now(self) -> datetime:
        """Wall clock."""
        return START + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self._seconds

    def random(self) -> float:
        """Always the same."""
        return self.chance

    async def sleep(self, seconds: float) -> None:
        """Wait, in the time of this clock."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._seconds + max(seconds, 0.0), self._count, future))
        await future

    def skip(self, seconds: float) -> None:
        """Time that passes while somebody computes."""
        self._seconds += seconds

    async def run(self, seconds: float) -> None:
        """Let this much time pass."""
        until = self._seconds + seconds
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            at, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                self._seconds = at
                future.set_result(None)
                await self._settle()
        self._seconds = until
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


class QuickClock:
    """Runs `factor` times as fast as the machine's; remembers what was slept."""

    def __init__(self, factor: float = 200.0, chance: float = 0.5) -> None:
        self._factor = factor
        self._start = time.monotonic()
        self.chance = chance
        self.slept: list[float] = []

    def now(self) -> datetime:
        """Wall clock."""
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Seconds since the start."""
        return (time.monotonic() - self._start) * self._factor

    def random(self) -> float:
        """Always the same."""
        return self.chance

    async def sleep(self, seconds: float) -> None:
        """Wait, in the time of this clock."""
        self.slept.append(seconds)
        await asyncio.sleep(seconds / self._factor)


class RestlessClock(QuickClock):
    """Never waits, and only what was slept passes: for code whose every sleep is followed by a request."""

    def monotonic(self) -> float:
        """Seconds since the start."""
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        """Wait, in the time of this clock."""
        self.slept.append(seconds)
        await asyncio.sleep(0)
