"""The recorder against an API server: created, counted up, made anew, dropped, and never in the way.

Covers: the requests. Leaves out: which remarks are worth one (test_correlator).
"""

import asyncio

from lws_volcano.controller.events import WAITING, Recorder
from lws_volcano.controller.leader_election import Alone
from lws_volcano.kube.client import Client
from lws_volcano.kube.resources import EVENTS
from tests.contract.api_server import ApiServer, html
from tests.contract.clocks import QuickClock
from tests.unit.controller.test_correlator import remark


class Lost(Alone):
    """A lease that has run out."""

    def may_write(self) -> bool:
        """Not any more."""
        return False


async def test_the_first_creates_and_the_next_counts_up() -> None:
    """One Event object with a count, about the object and by us."""
    async with ApiServer() as server, Client.at(server.url) as client:
        recorder = Recorder(client, QuickClock(), "me")
        for _ in range(3):
            await recorder.write(remark("told"))
        (event,) = server.all(EVENTS)
    assert (event["count"], event["message"], event["type"]) == (3, "told", "Warning")
    assert event["involvedObject"]["uid"] == "u"
    assert event["source"]["component"] == "lws-volcano"


async def test_an_event_that_has_expired_is_made_anew() -> None:
    """The API server keeps them for an hour."""
    async with ApiServer() as server, Client.at(server.url) as client:
        recorder = Recorder(client, QuickClock(), "me")
        await recorder.write(remark())
        (event,) = server.all(EVENTS)
        server.remove(EVENTS, "ns", event["metadata"]["name"])
        await recorder.write(remark())
        (event,) = server.all(EVENTS)
    assert event["count"] == 1


async def test_a_failed_write_stops_nothing() -> None:
    """It is lost, the next is written."""
    async with ApiServer() as server, Client.at(server.url) as client:
        recorder = Recorder(client, QuickClock(), "me")
        server.fail("POST", "events", html(500))
        running = asyncio.create_task(recorder.run())
        recorder.say(remark("lost"))
        recorder.say(remark("kept"))
        async with asyncio.timeout(10):
            while not server.all(EVENTS):
                await asyncio.sleep(0.01)
        running.cancel()
        assert [event["message"] for event in server.all(EVENTS)] == ["kept"]


async def test_a_full_queue_drops_and_does_not_wait() -> None:
    """Saying something never blocks a pass."""
    async with Client.at("http://127.0.0.1:1") as client:
        recorder = Recorder(client, QuickClock(), "me")
        for number in range(WAITING + 10):
            recorder.say(remark(str(number)))


async def test_who_does_not_lead_says_nothing() -> None:
    """What was still to be said when the lease was lost is dropped."""
    async with ApiServer() as server, Client.at(server.url) as client:
        await Recorder(client, QuickClock(), "me", Lost()).write(remark())
        assert server.all(EVENTS) == []
