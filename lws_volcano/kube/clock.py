"""Time and chance, injected so that tests need neither."""

import asyncio
import random
import time
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """What the asynchronous code knows of time."""

    def now(self) -> datetime:
        """Wall clock, UTC: only for what is written to the cluster or compared with it."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back: for every measure of our own."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def random(self) -> float:
        """A number in [0, 1)."""
        ...


class SystemClock:
    """The machine's."""

    def now(self) -> datetime:
        """Wall clock, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def random(self) -> float:
        """A number in [0, 1)."""
        return random.random()  # noqa: S311 - spreads retries, guards nothing
