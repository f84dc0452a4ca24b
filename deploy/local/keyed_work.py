"""Work by key for the stand-ins: a key is worked on once at a time, and once more if it was asked for meanwhile."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp

from deploy.local.errors import ApiError

__all__ = ["KeyedWork"]

RETRY: Final = 0.3


class KeyedWork:
    """Runs `work` for every key that was added.

    Parameters
    ----------
    work : callable
        Gives the seconds after which to look again, or None. What it raises is retried: with a word on standard error,
        but for the API server being away or an object having changed meanwhile.
    """

    def __init__(self, work: Callable[[str], Awaitable[float | None]], workers: int = 8) -> None:
        self._work = work
        self._workers = workers
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._queued: set[str] = set()
        self._busy: set[str] = set()
        self._again: set[str] = set()

    def add(self, key: str) -> None:
        """Ask for a key."""
        if key in self._busy:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._queue.put_nowait(key)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._worker())

    async def _worker(self) -> None:
        while True:
            key = await self._queue.get()
            self._queued.discard(key)
            self._busy.add(key)
            delay = await self._guarded(key)
            self._busy.discard(key)
            if key in self._again:
                self._again.discard(key)
                self.add(key)
            if delay is not None:
                asyncio.get_running_loop().call_later(delay, self.add, key)

    async def _guarded(self, key: str) -> float | None:
        try:
            return await self._work(key)
        except (aiohttp.ClientError, TimeoutError):
            return RETRY
        except ApiError as error:
            if error.reason not in {"Conflict", "AlreadyExists", "NotFound"}:
                print(f"{key}: {error}", file=sys.stderr, flush=True)
            return RETRY
        except Exception:  # noqa: BLE001 - a stand-in goes on, its log tells
            traceback.print_exc()
            return RETRY
