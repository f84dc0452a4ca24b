"""Tells those who wait out a back-off that the API server answers again.

Each watch and each failed key backs off by itself, so after an outage of minutes the last of them would come back half
a minute later than the first. An outage is a time without a single success: a server that fails now and then ends none,
so nobody's back-off is cut short by another's luck.
"""

import asyncio
from typing import Final

from lws_volcano.kube.clock import Clock

__all__ = ["Outage"]

LEAST: Final = 2.0
"""Seconds from the first failure on without a success that make an outage."""


class Outage:
    """Fed by the client with what became of every request."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = None
        self._over = asyncio.Event()

    def failed(self) -> None:
        """A request was not answered, or with a server's error."""
        if self._since is None:
            self._since = self._clock.monotonic()

    def answered(self) -> None:
        """A request was answered as it should be."""
        if self._since is None:
            return
        lasted = self._clock.monotonic() - self._since
        self._since = None
        if lasted >= LEAST:
            over, self._over = self._over, asyncio.Event()
            over.set()

    async def over(self) -> None:
        """Wait for the end of an outage: of one that is, or of the next."""
        await self._over.wait()
