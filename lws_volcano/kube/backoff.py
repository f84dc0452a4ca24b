"""Waiting times that grow, with jitter, so that many who failed together do not come back together."""

import asyncio

from lws_volcano.kube.clock import Clock
from lws_volcano.kube.outage import Outage

__all__ = ["Backoff"]


class Backoff:
    """`first`, twice that, and so on up to `limit`; each made longer by a random part of up to its own length.

    The end of an `outage` ends the wait as well and begins anew, but nobody comes back sooner than after `first`, nor
    than the server asked for, nor all together.

    Source: client-go tools/cache/reflector.go (0.8 s to 30 s, factor 2, jitter 1).
    """

    def __init__(self, clock: Clock, first: float = 0.8, limit: float = 30.0, outage: Outage | None = None) -> None:
        self._clock = clock
        self._first = first
        self._limit = limit
        self._outage = outage
        self._next = first

    def reset(self) -> None:
        """Something worked: start from the beginning."""
        self._next = self._first

    def seconds(self, at_least: float | None = None) -> float:
        """The next waiting time, not shorter than what the server asked for."""
        base = self._next
        self._next = min(2 * base, self._limit)
        return max(min(base * (1 + self._clock.random()), self._limit), at_least or 0.0)

    async def wait(self, at_least: float | None = None) -> None:
        """Wait that long."""
        seconds = self.seconds(at_least)
        if self._outage is None:
            await self._clock.sleep(seconds)
            return
        started = self._clock.monotonic()
        if await self._over_within(self._outage, seconds):
            self.reset()
            shortest = min(max(self._first, at_least or 0.0), seconds)
            left = started + shortest - self._clock.monotonic()
            await self._clock.sleep(max(0.0, left) + self._first * self._clock.random())

    async def _over_within(self, outage: Outage, seconds: float) -> bool:
        """Wait for the end of an outage, but not longer than this; whether it came."""
        sleep = asyncio.ensure_future(self._clock.sleep(seconds))
        over = asyncio.ensure_future(outage.over())
        try:
            await asyncio.wait((sleep, over), return_when=asyncio.FIRST_COMPLETED)
            return over.done()
        finally:
            sleep.cancel()
            over.cancel()
            await asyncio.gather(sleep, over, return_exceptions=True)
