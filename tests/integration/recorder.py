"""Every event of some kinds, from before the first object is made: what the watch stream said, in order."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp

from deploy.local.api import Api, Object, Resource
from deploy.local.errors import ApiError

__all__ = ["Event", "Recorder"]


@dataclass(frozen=True)
class Event:
    """One event of one watch.

    Attributes
    ----------
    kind, type : str
        Kind of the object; ADDED, MODIFIED or DELETED.
    time : float
        Monotonic time of its arrival.
    object : dict
        The object, raw.
    """

    kind: str
    type: str
    time: float
    object: Object

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self.object["metadata"]["name"])

    @property
    def version(self) -> int:
        """Resource version: one order for all kinds, since there is one etcd."""
        return int(self.object["metadata"]["resourceVersion"])


class Recorder:
    """Records while it is entered. Objects that were there before come first, as ADDED.

    Parameters
    ----------
    api : Api
        Open client.
    resources : sequence of Resource
        What to record.
    namespace : str
        Only this namespace (cluster-scoped kinds as a whole); empty for all.
    """

    def __init__(self, api: Api, resources: Sequence[Resource], namespace: str = "") -> None:
        self._api = api
        self._resources = resources
        self._namespace = namespace
        self._tasks: list[asyncio.Task[None]] = []
        self._woken = asyncio.Condition()
        self._events: list[Event] = []

    async def __aenter__(self) -> Self:
        started = [asyncio.Event() for _ in self._resources]
        for resource, event in zip(self._resources, started, strict=True):
            self._tasks.append(asyncio.create_task(self._follow(resource, event)))
        for event in started:
            await event.wait()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def events(self) -> list[Event]:
        """Everything so far, in the order in which it happened."""
        return sorted(self._events, key=lambda event: event.version)

    def of(self, kind: str, type_: str = "") -> list[Event]:
        """Events of one kind, of one type where it is given."""
        return [event for event in self.events if event.kind == kind and type_ in {"", event.type}]

    def created(self, kind: str) -> list[Object]:
        """Objects as they were at creation."""
        return [event.object for event in self.of(kind, "ADDED")]

    async def until(self, condition: Callable[[list[Event]], bool], timeout: float = 30) -> None:  # noqa: ASYNC109
        """Wait until the events so far meet a condition.

        Raises
        ------
        TimeoutError
            They don't in time.
        """
        async with asyncio.timeout(timeout), self._woken:
            await self._woken.wait_for(lambda: condition(self.events))

    async def _follow(self, resource: Resource, started: asyncio.Event) -> None:
        listed = await self._api.request("GET", resource.path(self._namespace))
        for item in listed["items"]:
            await self._take(resource, "ADDED", item)
        version = listed["metadata"]["resourceVersion"]
        started.set()
        while True:
            try:
                async for event in self._api.watch(resource, self._namespace, version):
                    if event["type"] == "ERROR":
                        raise AssertionError(f"the recording has a hole: {event['object'].get('message')}")
                    version = event["object"]["metadata"]["resourceVersion"]
                    await self._take(resource, event["type"], event["object"])
            except (aiohttp.ClientError, ApiError, TimeoutError):
                await asyncio.sleep(0.2)

    async def _take(self, resource: Resource, type_: str, found: Object) -> None:
        async with self._woken:
            self._events.append(Event(resource.kind, type_, time.monotonic(), found))
            self._woken.notify_all()
