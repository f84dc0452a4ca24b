"""A local copy of every object of one kind, kept up to date by list and watch. For the stand-ins.

Simple on purpose: on any trouble (410, a broken connection, an API server that is away) it lists anew after a pause.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Final

import aiohttp

from deploy.local.api import Api, Object, Resource
from deploy.local.errors import ApiError

__all__ = ["Change", "Mirror", "key_of"]

PAUSE: Final = 0.3
Change = Callable[[Object | None, Object | None], None]
"""Called with the object before and after; None for "not there"."""


def key_of(one: Object) -> str:
    """`namespace/name`, or the name alone."""
    meta = one["metadata"]
    namespace = meta.get("namespace", "")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


def _version(one: Object) -> int:
    return int(one["metadata"]["resourceVersion"])


class Mirror:
    """Objects of one kind by key, and by one index of the caller's choice.

    Parameters
    ----------
    api, resource, selector
        What to watch; the selector is a label selector.
    index : callable, optional
        Gives the value under which `having` finds an object, "" for none.
    """

    def __init__(
        self, api: Api, resource: Resource, *, selector: str = "", index: Callable[[Object], str] | None = None
    ) -> None:
        self._api = api
        self._resource = resource
        self._params = {"labelSelector": selector} if selector else {}
        self._index = index
        self._objects: dict[str, Object] = {}
        self._having: dict[str, dict[str, Object]] = {}
        self._listeners: list[Change] = []
        self.synced = asyncio.Event()

    def __getitem__(self, key: str) -> Object:
        return self._objects[key]

    @property
    def objects(self) -> Mapping[str, Object]:
        """Everything, by key."""
        return self._objects

    def get(self, key: str) -> Object | None:
        """The object of this key."""
        return self._objects.get(key)

    def having(self, value: str) -> list[Object]:
        """Objects with this value of the index."""
        return list(self._having.get(value, {}).values())

    def listen(self, change: Change) -> None:
        """Call `change` for every change from now on."""
        self._listeners.append(change)

    def remember(self, one: Object) -> None:
        """Take in what a write of ours answered, so that the next look does not lag behind it."""
        self._put(one)

    async def run(self) -> None:
        """Follow the API server until cancelled."""
        while True:
            with contextlib.suppress(ApiError, aiohttp.ClientError, TimeoutError, ValueError, OSError):
                await self._follow(await self._list())
            await asyncio.sleep(PAUSE)

    async def _list(self) -> str:
        found = await self._api.request("GET", self._resource.path(), params=self._params)
        fresh = {key_of(one): one for one in found["items"]}
        for key in self._objects.keys() - fresh.keys():
            self._drop(self._objects[key])
        for one in fresh.values():
            self._put(one)
        self.synced.set()
        return str(found["metadata"]["resourceVersion"])

    async def _follow(self, version: str) -> None:
        while True:
            async for event in self._api.watch(
                self._resource, version=version, allowWatchBookmarks="true", **self._params
            ):
                one = event["object"]
                if event["type"] == "ERROR":
                    return
                version = one["metadata"]["resourceVersion"]
                if event["type"] == "DELETED":
                    self._drop(one)
                elif event["type"] != "BOOKMARK":
                    self._put(one)

    def _put(self, one: Object) -> None:
        key = key_of(one)
        old = self._objects.get(key)
        if old is not None and old["metadata"]["uid"] == one["metadata"]["uid"] and _version(old) >= _version(one):
            return
        self._objects[key] = one
        self._reindex(key, old, one)
        self._tell(old, one)

    def _drop(self, one: Object) -> None:
        key = key_of(one)
        old = self._objects.get(key)
        if old is None or old["metadata"]["uid"] != one["metadata"]["uid"]:
            return
        del self._objects[key]
        self._reindex(key, old, None)
        self._tell(old, None)

    def _reindex(self, key: str, old: Object | None, new: Object | None) -> None:
        if self._index is None:
            return
        if old is not None:
            self._having.get(self._index(old), {}).pop(key, None)
        if new is not None:
            self._having.setdefault(self._index(new), {})[key] = new

    def _tell(self, old: Object | None, new: Object | None) -> None:
        for listener in self._listeners:
            listener(old, new)
