"""The LeaderWorkerSet behind a pod, while the API server waits.

The opt-in stands on the LeaderWorkerSet and does not reach the pod, and a leader pod can be admitted before our watch
has delivered its set. Then it is read directly, once for all pods that ask at the same time, with a short timeout; that
there is no such set is remembered for a moment, so that pods with stray labels don't become a read each.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lws_volcano.api.errors import LwsVolcanoError
from lws_volcano.api.workloads import LeaderWorkerSet

__all__ = ["Lookup", "LookupFailedError", "Source"]

Cached = Callable[[str, str], LeaderWorkerSet | None]
"""Namespace and name to the set in the cache."""

Read = Callable[[str, str], Awaitable[LeaderWorkerSet | None]]
"""The same, from the API server; None where there is none."""


class LookupFailedError(LwsVolcanoError):
    """Neither the cache nor the API server can say; the failure policy of the webhook decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a set is looked for, and how long that may take (seconds)."""

    cached: Cached
    read: Read
    clock: Callable[[], float]
    timeout: float = 1.0
    remember_absence: float = 2.0
    remembered: int = 10_000


class Lookup:
    """Finds sets: cache first, then one direct read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._reads: dict[tuple[str, str], asyncio.Task[LeaderWorkerSet | None]] = {}
        self._absent: dict[tuple[str, str], float] = {}

    async def find(self, namespace: str, name: str) -> LeaderWorkerSet | None:
        """The set, or None when there is none.

        Raises
        ------
        LookupFailedError
            The direct read was refused or took too long.
        """
        found = self._source.cached(namespace, name)
        if found is not None or self._known_absent((namespace, name)):
            return found
        return await self._shared_read((namespace, name))

    async def close(self) -> None:
        """End the reads under way."""
        reads = list(self._reads.values())
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)

    async def _shared_read(self, key: tuple[str, str]) -> LeaderWorkerSet | None:
        task = self._reads.get(key)
        if task is None:
            task = self._reads[key] = asyncio.create_task(self._read(key))
            task.add_done_callback(lambda done: self._finished(key, done))
        # Shielded: the one who asked first may hang up while others wait for the same answer.
        return await asyncio.shield(task)

    async def _read(self, key: tuple[str, str]) -> LeaderWorkerSet | None:
        try:
            async with asyncio.timeout(self._source.timeout):
                found = await self._source.read(*key)
        except (TimeoutError, LwsVolcanoError) as error:
            why = str(error) or "timeout"
            raise LookupFailedError(f"LeaderWorkerSet {'/'.join(key)} cannot be read: {why}") from error
        if found is None:
            self._remember_absence(key)
        return found

    def _finished(self, key: tuple[str, str], task: asyncio.Task[LeaderWorkerSet | None]) -> None:
        self._reads.pop(key, None)
        if not task.cancelled():
            task.exception()  # seen here, so that a read whose callers have all gone isn't reported as lost

    def _known_absent(self, key: tuple[str, str]) -> bool:
        until = self._absent.get(key)
        if until is None:
            return False
        if self._source.clock() < until:
            return True
        del self._absent[key]
        return False

    def _remember_absence(self, key: tuple[str, str]) -> None:
        if len(self._absent) >= self._source.remembered:
            self._absent.clear()
        self._absent[key] = self._source.clock() + self._source.remember_absence
