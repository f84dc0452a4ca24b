"""The watch over everything that an API server and what stands before it may do to it.

Covers: pages, bookmarks, 410 in both forms, clean closes, resets in mid-line, silence, HTML, 429, no such kind, no
permission.
Leaves out: what becomes of the events (tests/unit/state), a real API server (tests/integration).
"""

import asyncio
import json
from collections.abc import AsyncIterator

from aiohttp import web

from lws_volcano.kube.client import Client
from lws_volcano.kube.lists import Listed, Page, Target
from lws_volcano.kube.resources import QUEUES
from lws_volcano.kube.watch import Bookmark, Event, Failing, Missing, Timing, Update, for_ever
from tests.contract.api_server import ApiServer, Fault, html, refused, status
from tests.contract.clocks import RestlessClock

TARGET = Target(resource=QUEUES)


def queue(name: str) -> dict[str, object]:
    """A queue."""
    return {"apiVersion": QUEUES.api_version, "kind": QUEUES.kind, "metadata": {"name": name}}


class Follower:
    """Reads the events of one watch, one after the other."""

    def __init__(self, client: Client, **timing: float) -> None:
        self.clock = RestlessClock()
        self.events: list[Event] = []
        self._stream: AsyncIterator[Event] = for_ever(client, TARGET, Timing(clock=self.clock, **timing))

    async def until(self, kind: type[Event], count: int = 1) -> Event:
        """Read up to the next event of this kind (or the `count`-th)."""
        async with asyncio.timeout(20):
            async for event in self._stream:
                self.events.append(event)
                count -= isinstance(event, kind)
                if not count:
                    return event
        raise AssertionError("a watch never ends by itself")

    async def update(self) -> str:
        """Name of the next object that changes."""
        event = await self.until(Update)
        return event.object["metadata"]["name"]

    def names(self) -> list[str]:
        """Every object that was told of, in lists and updates."""
        found: list[str] = []
        for event in self.events:
            if isinstance(event, Page):
                found += [item["metadata"]["name"] for item in event.items]
            if isinstance(event, Update):
                found.append(event.object["metadata"]["name"])
        return found

    async def close(self) -> None:
        """Stop reading."""
        await self._stream.aclose()


def lists(server: ApiServer) -> int:
    """Pages asked for."""
    return sum(not asked.watches for asked in server.asked)


def watches(server: ApiServer) -> list[str]:
    """Versions from which watches were asked for."""
    return [asked.query["resourceVersion"] for asked in server.asked if asked.watches]


def stream(*parts: bytes, reset: bool = False, hang: bool = False) -> Fault:
    """A watch that sends these bytes and then ends, breaks, or says nothing more."""

    async def answer(_: ApiServer, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for part in parts:
            await response.write(part)
        if hang:
            await asyncio.sleep(60)
        if reset and request.transport is not None:
            request.transport.abort()
        return response

    return answer


def line(kind: str, item: object) -> bytes:
    """One event as it is sent."""
    return json.dumps({"type": kind, "object": item}).encode() + b"\n"


async def test_lists_in_pages_then_watches_from_the_version_of_the_list(server: ApiServer, client: Client) -> None:
    """Every object comes once, and the watch begins where the list was made."""
    for number in range(5):
        server.put(QUEUES, queue(f"q{number}"))
    follower = Follower(client, page=2)
    listed = await follower.until(Listed)
    assert follower.names() == [f"q{number}" for number in range(5)]
    assert [event.first for event in follower.events if isinstance(event, Page)] == [True, False, False]
    await follower.until(Bookmark)
    assert isinstance(listed, Listed)
    assert watches(server) == [listed.version]
    await follower.close()


async def test_a_continue_token_that_expired_makes_one_whole_list(server: ApiServer, client: Client) -> None:
    """410 on the second page: the list is read again at once, without pages."""
    for number in range(5):
        server.put(QUEUES, queue(f"q{number}"))

    async def first_page(running: ApiServer, request: web.Request) -> web.StreamResponse:
        return await running.answer_get(request)

    server.fail("GET", "queues", first_page, refused(410, "Expired"))
    follower = Follower(client, page=2)
    await follower.until(Listed)
    last = [event for event in follower.events if isinstance(event, Page)][-1]
    assert last.first
    assert len(last.items) == 5
    await follower.close()


async def test_bookmarks_move_the_version_on(server: ApiServer, client: Client) -> None:
    """After a bookmark the next request starts from it, and an update before it is not asked for again."""
    bookmark = line("BOOKMARK", {"metadata": {"resourceVersion": "777"}})
    server.fail("WATCH", "queues", stream(bookmark))
    follower = Follower(client)
    await follower.until(Bookmark, 3)
    assert watches(server)[-1] == "777"
    await follower.close()


async def test_a_clean_close_is_reopened_from_the_last_version(server: ApiServer, client: Client) -> None:
    """No list, no error; what happened meanwhile arrives."""

    async def one_event(running: ApiServer, request: web.Request) -> web.StreamResponse:
        return await running.answer_watch(request, most=1)

    server.fail("WATCH", "queues", one_event)
    follower = Follower(client)
    await follower.until(Bookmark)
    server.put(QUEUES, queue("a"))
    assert await follower.update() == "a"
    server.put(QUEUES, queue("b"))
    assert await follower.update() == "b"
    assert lists(server) == 1
    await follower.close()


async def test_closing_at_once_again_and_again_is_no_hot_loop(server: ApiServer, client: Client) -> None:
    """Waits grow from 0.8 s up to 30 s when every watch is closed at once."""
    server.fail("WATCH", "queues", *[stream() for _ in range(8)])
    follower = Follower(client)
    await follower.until(Bookmark, 9)
    assert follower.clock.slept[:4] == [1.2000000000000002, 2.4000000000000004, 4.800000000000001, 9.600000000000001]
    assert max(follower.clock.slept) == 30.0
    await follower.close()


async def test_a_reset_in_the_middle_of_a_line_loses_nothing(server: ApiServer, client: Client) -> None:
    """The unfinished event comes again, whole, from the last version."""
    whole = line("ADDED", server.put(QUEUES, queue("a")))
    server.fail("WATCH", "queues", stream(whole[:30], reset=True))
    server.oldest = 0
    follower = Follower(client)
    await follower.until(Failing)
    server.put(QUEUES, queue("b"))
    assert await follower.update() == "b"
    assert lists(server) == 1
    await follower.close()


async def test_an_event_in_many_small_pieces_is_one_event(server: ApiServer, client: Client) -> None:
    """Lines are put together however the network cuts them; several in one piece are several."""
    one = line("ADDED", {"metadata": {"name": "a", "resourceVersion": "201"}})
    two = line("ADDED", {"metadata": {"name": "b" * 100_000, "resourceVersion": "202"}})
    three = line("ADDED", {"metadata": {"name": "c", "resourceVersion": "203"}})
    text = one + two + three
    server.fail("WATCH", "queues", stream(text[:3], text[3:50], text[50:70_000], text[70_000:]))
    follower = Follower(client)
    await follower.until(Update, 3)
    assert follower.names() == ["a", "b" * 100_000, "c"]
    await follower.close()


async def test_silence_is_given_up(server: ApiServer, client: Client) -> None:
    """A connection that says nothing, not even a bookmark, is opened anew."""
    server.fail("WATCH", "queues", stream(hang=True))
    follower = Follower(client, silence=0.05)
    failed = await follower.until(Failing)
    assert isinstance(failed, Failing)
    assert "not a byte" in failed.why
    await follower.until(Bookmark)
    assert lists(server) == 1
    await follower.close()


async def test_http_410_means_one_list(server: ApiServer, client: Client) -> None:
    """An expired version in the form of an HTTP status."""
    server.fail("WATCH", "queues", refused(410, "Expired"))
    follower = Follower(client)
    await follower.until(Listed, 2)
    await follower.until(Bookmark)
    assert lists(server) == 2
    await follower.close()


async def test_an_error_event_410_means_one_list(server: ApiServer, client: Client) -> None:
    """An expired version in the form of an event inside a 200."""
    server.fail("WATCH", "queues", stream(line("ERROR", status(410, "Expired"))))
    follower = Follower(client)
    await follower.until(Listed, 2)
    await follower.until(Bookmark)
    assert lists(server) == 2
    await follower.close()


async def test_other_error_events_are_tried_again_and_then_listed(server: ApiServer, client: Client) -> None:
    """An error that does not go away with the same version ends in a list after three tries."""
    server.fail("WATCH", "queues", *[stream(line("ERROR", status(500, "InternalError"))) for _ in range(3)])
    follower = Follower(client)
    await follower.until(Listed, 2)
    assert len(watches(server)) == 3
    await follower.close()


async def test_http_500_and_html_wait_longer_each_time(server: ApiServer, client: Client) -> None:
    """The same version is asked for again, after growing waits, and bodies are cut short."""
    server.fail("WATCH", "queues", html(500), html(502), html(503))
    follower = Follower(client)
    await follower.until(Failing, 3)
    await follower.until(Bookmark)
    assert lists(server) == 1
    assert follower.clock.slept == sorted(follower.clock.slept)
    assert len(follower.clock.slept) == 3
    assert all(len(event.why) < 400 for event in follower.events if isinstance(event, Failing))
    await follower.close()


async def test_html_in_a_200_is_no_event(server: ApiServer, client: Client) -> None:
    """A captive proxy that answers a watch with a page: said, waited for, opened again."""
    server.fail("WATCH", "queues", stream(b"<html>\n<body>\n"))
    follower = Follower(client)
    failed = await follower.until(Failing)
    assert isinstance(failed, Failing)
    assert "not a watch event" in failed.why
    await follower.close()


async def test_a_list_that_is_html_is_tried_again(server: ApiServer, client: Client) -> None:
    """The same for a list."""

    async def page(_: ApiServer, __: web.Request) -> web.Response:
        return web.Response(text="<html>", content_type="text/html")

    server.fail("GET", "queues", page)
    follower = Follower(client)
    await follower.until(Failing)
    await follower.until(Listed)
    await follower.close()


async def test_429_waits_as_long_as_the_server_asks(server: ApiServer, client: Client) -> None:
    """Retry-After is the least that is waited."""
    server.fail("GET", "queues", refused(429, "TooManyRequests", headers={"Retry-After": "17"}))
    follower = Follower(client)
    await follower.until(Listed)
    assert follower.clock.slept == [17.0]
    await follower.close()


async def test_a_kind_that_comes_later_is_found(server: ApiServer, client: Client) -> None:
    """No CustomResourceDefinition yet: said by name, tried with growing waits, then listed."""
    server.missing.add("queues")
    follower = Follower(client)
    missing = await follower.until(Missing, 2)
    assert isinstance(missing, Missing)
    assert "queues.scheduling.volcano.sh" in missing.why
    server.missing.clear()
    await follower.until(Listed)
    await follower.close()


async def test_no_permission_names_verbs_and_resource(server: ApiServer, client: Client) -> None:
    """The message is what an admin has to put into the role."""
    server.forbidden.add("queues")
    follower = Follower(client)
    missing = await follower.until(Missing)
    assert isinstance(missing, Missing)
    assert "list and watch on queues.scheduling.volcano.sh" in missing.why
    server.forbidden.clear()
    await follower.until(Listed)
    await follower.close()


async def test_a_server_that_is_away_is_waited_for() -> None:
    """Connection refused is a wait, not an end."""
    async with Client.at("http://127.0.0.1:1") as nowhere:
        follower = Follower(nowhere)
        await follower.until(Failing, 3)
        assert follower.clock.slept[0] < follower.clock.slept[1]
        await follower.close()
