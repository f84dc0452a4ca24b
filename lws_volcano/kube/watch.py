"""A kind, listed and watched for ever.

Three layers, each handling what the one below it cannot know:

    one_request      one watch request: its events until it ends, in whatever way it ends
    until_expired    request after request from the last version seen, until that version has expired
    for_ever         list, then until_expired, then list again

The end of a watch is normal in every form: clean end, time out, reset, unfinished line, a page of HTML. Only 410 needs
a new list. Reconnects wait 0.8 s to 30 s; a stream that has lived and ended cleanly is reopened at once.

Source: client-go tools/cache/reflector.go for the constants and for what to do about an expired `continue`.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog
from aiohttp import StreamReader

from lws_volcano.kube.backoff import Backoff
from lws_volcano.kube.client import Client, Json
from lws_volcano.kube.clock import Clock
from lws_volcano.kube.errors import (
    ApiError,
    ConfigurationError,
    Forbidden,
    Gone,
    NotFound,
    Unavailable,
    error_of_status,
)
from lws_volcano.kube.lists import PAGE, WITHIN, Listed, Page, Target, whole_list
from lws_volcano.kube.outage import Outage
from lws_volcano.kube.resources import Resource

__all__ = ["Bookmark", "Event", "Failing", "Missing", "Timing", "Update", "for_ever"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Times of a watch, in seconds."""

    clock: Clock
    shortest: float = 300.0
    """The server is asked to end a watch after a random time from here on,"""
    spread: float = 300.0
    """up to so much later: all watches of all replicas must not end together."""
    silence: float = 150.0
    """Without a byte for so long (bookmarks come every minute) the connection is given up."""
    lived: float = 1.0
    """A watch that ended cleanly sooner than this is reopened with a delay."""
    list_within: float = WITHIN
    page: int = PAGE
    first_retry: float = 0.8
    last_retry: float = 30.0

    def backoff(self, outage: Outage) -> Backoff:
        """Waiting times for one chain of retries."""
        return Backoff(self.clock, self.first_retry, self.last_retry, outage)


class Update(NamedTuple):
    """ADDED, MODIFIED or DELETED."""

    type: str
    object: Json


class Bookmark(NamedTuple):
    """Nothing has changed up to this version; an empty one only says that the watch is open."""

    version: str


class Missing(NamedTuple):
    """The kind cannot be read, and why; it is tried again."""

    why: str


class Failing(NamedTuple):
    """A request failed, and why; it is tried again."""

    why: str


Event = Page | Listed | Update | Bookmark | Missing | Failing


@dataclass
class _Position:
    """Where a watch stands."""

    version: str
    failures: int = field(default=0)


async def for_ever(client: Client, target: Target, timing: Timing) -> AsyncIterator[Event]:
    """Every state of the kind, from the first list on; ends only by being cancelled."""
    backoff = timing.backoff(client.outage)
    while True:
        started = timing.clock.monotonic()
        asked: float | None = None
        try:
            async for part in whole_list(client, target, page=timing.page, within=timing.list_within):
                yield part
                if isinstance(part, Listed):
                    async for event in until_expired(client, target, part.version, timing):
                        yield event
        except (Forbidden, NotFound) as error:
            yield Missing(_why(target.resource, error))
        except (ApiError, Unavailable, ConfigurationError) as error:
            _log.warning("list failed, trying again", resource=target.resource.rbac_name, error=str(error))
            asked = _asked(error)
            yield Failing(str(error))
        if timing.clock.monotonic() - started > timing.last_retry:
            backoff.reset()
        else:
            # Versions that expire at once must not become a loop of lists.
            await backoff.wait(asked)


async def until_expired(client: Client, target: Target, version: str, timing: Timing) -> AsyncIterator[Event]:
    """Changes after `version`, over any number of requests; ends when a list is needed."""
    backoff = timing.backoff(client.outage)
    position = _Position(version)
    while position.failures < _FRUITLESS:
        started = timing.clock.monotonic()
        asked: float | None = None
        try:
            async for event in one_request(client, target, position, timing):
                yield event
            clean = timing.clock.monotonic() - started >= timing.lived
        except Gone as error:
            _log.info("version expired, listing again", resource=target.resource.rbac_name, error=str(error))
            return
        except (Forbidden, NotFound) as error:
            _log.warning("watch refused", resource=target.resource.rbac_name, error=str(error))
            return
        except (ApiError, Unavailable, ConfigurationError) as error:
            clean, asked = False, _asked(error)
            position.failures += isinstance(error, _StreamError)
            _log.warning("watch ended, trying again", resource=target.resource.rbac_name, error=str(error))
            yield Failing(str(error))
        if clean or (not position.failures and timing.clock.monotonic() - started >= timing.last_retry):
            backoff.reset()
        if not clean:
            await backoff.wait(asked)


_FRUITLESS = 3
"""ERROR events in a row, without a change between them, after which the same version is not tried again."""


class _StreamError(ApiError):
    """An ERROR event other than 410."""


async def one_request(client: Client, target: Target, position: _Position, timing: Timing) -> AsyncIterator[Event]:
    """Changes that one request brings; moves `position` on.

    Raises
    ------
    Gone
        The version has expired.
    ApiError, Unavailable
        It could not be opened, or broke.
    """
    seconds = int(timing.shortest + timing.spread * timing.clock.random())
    query = target.query(
        watch="true",
        allowWatchBookmarks="true",
        resourceVersion=position.version,
        timeoutSeconds=str(seconds),
    )
    async with client.stream(target.resource.path(), query) as body:
        yield Bookmark("")
        async for line in _lines(body, timing.silence):
            event = _event(line)
            position.version = event.version if isinstance(event, Bookmark) else _version_of(event.object)
            position.failures = 0
            yield event


async def _lines(body: StreamReader, silence: float) -> AsyncIterator[bytes]:
    """Complete lines; an unfinished last one is dropped, it comes again with the next request."""
    rest = b""
    while True:
        try:
            async with asyncio.timeout(silence):
                chunk = await body.readany()
        except TimeoutError:
            raise Unavailable(f"not a byte for {silence:g} s") from None
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in lines:
            if line.strip():
                yield line


def _event(line: bytes) -> Update | Bookmark:
    try:
        decoded = json.loads(line)
        kind, item = decoded["type"], decoded["object"]
        if kind == "ERROR":
            raise _stream_error(item)
        if kind == "BOOKMARK":
            return Bookmark(_version_of(item))
    except (ValueError, KeyError, TypeError):
        raise Unavailable(f"not a watch event: {line[:80]!r}") from None
    return Update(kind, item)


def _stream_error(status: Json) -> ApiError:
    error = error_of_status(status)
    return (
        error if isinstance(error, Gone) else _StreamError(error.status, error.reason, error.message, error.retry_after)
    )


def _version_of(item: Json) -> str:
    return str(item["metadata"]["resourceVersion"])


def _asked(error: Exception) -> float | None:
    return error.retry_after if isinstance(error, ApiError) else None


def _why(resource: Resource, error: ApiError) -> str:
    if isinstance(error, Forbidden):
        return f"no permission: the role needs the verbs list and watch on {resource.rbac_name} in every namespace"
    return f"the API server has no {resource.rbac_name} ({resource.api_version}): install its CustomResourceDefinition"
