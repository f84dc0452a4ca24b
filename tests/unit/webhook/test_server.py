"""The server over real HTTP(S) on loopback: answers, error statuses, certificate change and stop under load, metrics.

The API server is a stand-in that answers the direct read of a set. Left out: an API server that calls us
(tests/integration/test_webhook.py).
"""

import asyncio
import base64
import json
import ssl
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from lws_volcano.api.errors import ClusterError
from lws_volcano.api.settings import Settings
from lws_volcano.kube.clock import SystemClock
from lws_volcano.observe import metrics
from lws_volcano.observe.address import Address
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.handler import Handler, Known
from lws_volcano.webhook.hints import NoHints
from lws_volcano.webhook.keeper import CertificateKeeper, KeeperOptions, server_context
from lws_volcano.webhook.lookup import Lookup, Source
from lws_volcano.webhook.server import Server
from tests.unit.webhook.builders import leader, lws, review


class Readable:
    """What a direct read gives."""

    def __init__(self, result=None):
        self.result = result
        self.reads = 0

    async def __call__(self, *_):
        """The result, or its exception."""
        self.reads += 1
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def handler(*sets, read=None, hints=None):
    """A handler whose cache holds these sets."""
    cluster = Cluster()
    for one in sets:
        cluster.kinds.lws.store.upsert(one, 1)
    store = cluster.kinds.lws.store
    source = Source(
        cached=lambda namespace, name: store.get(f"{namespace}/{name}"), read=read or Readable(), clock=lambda: 0.0
    )
    known = Known(
        cluster=cluster, lookup=Lookup(source), hints=hints or NoHints(), settings=Settings(), clock=SystemClock()
    )
    return Handler(known)


@pytest.fixture
async def session():
    """An HTTP client."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as client:
        yield client


@pytest.fixture
async def served():
    """Starts servers on loopback and stops them; gives the URL."""
    servers = []

    async def start(answers, context=None):
        server = Server(answers, context, Address("127.0.0.1", 0), drain=0.0, finish=5.0)
        await server.start()
        servers.append(server)
        scheme = "https" if context else "http"
        return f"{scheme}://127.0.0.1:{server.port}/mutate-pods", server

    yield start
    for server in servers:
        await server.stop()


def counted(outcome):
    """Answers with this outcome so far."""
    return metrics.REGISTRY.get_sample_value("lws_volcano_webhook_answers_total", {"outcome": outcome}) or 0


async def test_pod_of_a_gang_is_patched(served, session):
    """The whole way: review in, JSON Patch out, counted and timed."""
    url, _ = await served(handler(lws()))
    before = counted("bound")
    async with session.post(url, data=review(leader())) as answer:
        response = (await answer.json())["response"]
    paths = {operation["path"] for operation in json.loads(base64.b64decode(response["patch"]))}
    assert (answer.status, response["uid"], response["allowed"]) == (200, "r1", True)
    assert paths == {
        "/metadata/annotations/scheduling.k8s.io~1group-name",
        "/metadata/annotations/volcano.sh~1task-spec",
    }
    assert counted("bound") == before + 1


@pytest.mark.parametrize(
    ("body", "read", "outcome"),
    [
        (review(leader(), operation="UPDATE"), lws(), "not_a_member"),
        (review({"metadata": {"name": "p"}, "spec": {}}), lws(), "not_a_member"),
        (review(leader()), None, "no_such_set"),
        (review(leader()), lws(gang=None), "left_alone"),
        (review(leader()), lws(), "bound"),
    ],
)
async def test_set_outside_the_cache_is_read(served, session, body, read, outcome):
    """What the cache lacks is read; every other pod is let in as it is."""
    url, _ = await served(handler(read=Readable(read)))
    before = counted(outcome)
    async with session.post(url, data=body) as answer:
        assert (await answer.json())["response"]["allowed"] is True
    assert counted(outcome) == before + 1


@pytest.mark.parametrize(
    ("body", "read", "status"),
    [
        (b"nonsense", None, 400),
        (review(leader()), ClusterError("no answer"), 503),
        (review(leader()), RuntimeError("a defect"), 500),
    ],
)
async def test_what_cannot_be_decided_is_an_http_error(served, session, body, read, status):
    """The failure policy decides then; the text says what is wrong and shows no traceback."""
    url, _ = await served(handler(read=Readable(read)))
    async with session.post(url, data=body) as answer:
        text = await answer.text()
    assert answer.status == status
    assert "Traceback" not in text


async def test_other_paths_and_methods(served, session):
    """Only POST on the one path."""
    url, _ = await served(handler())
    async with session.get(url) as get, session.post(url + "x") as elsewhere:
        assert (get.status, elsewhere.status) == (405, 404)


async def test_certificate_changes_without_a_lost_request(served):
    """Requests on kept and on new connections go on while the certificate is renewed under the same context."""

    class Moving(SystemClock):
        offset = timedelta(days=-5)

        def now(self):
            """The machine's time, moved."""
            return datetime.now(UTC) + self.offset

    clock = Moving()
    context = server_context()
    keeper = CertificateKeeper(context, KeeperOptions(names=("127.0.0.1",), store=None, clock=clock))
    await keeper.step()
    url, server = await served(handler(lws()), context)
    trust = ssl.create_default_context(cadata=keeper.ca_bundle.decode())
    statuses = []

    def presented():
        address = ("127.0.0.1", server.port)
        return asyncio.to_thread(ssl.get_server_certificate, address, timeout=10)

    first = await presented()

    async def call(connector):
        async with aiohttp.ClientSession(connector=connector) as client:
            for _ in range(30):
                async with client.post(url, data=review(leader())) as answer:
                    statuses.append(answer.status)
                    await answer.read()
                if len(statuses) == 40:
                    clock.offset = timedelta(minutes=-11)
                    await keeper.step()
                    clock.offset = timedelta(0)
                    await keeper.step()
                    trust.load_verify_locations(cadata=keeper.ca_bundle.decode())

    kept = aiohttp.TCPConnector(ssl=trust)
    fresh = aiohttp.TCPConnector(ssl=trust, force_close=True)
    await asyncio.gather(call(kept), call(fresh), call(aiohttp.TCPConnector(ssl=trust, force_close=True)))
    assert statuses == [200] * 90
    assert await presented() != first


async def test_stop_finishes_what_is_under_way(session):
    """A request that is being answered when the stop comes gets its answer; afterwards nobody listens."""
    asked, free = asyncio.Event(), asyncio.Event()

    async def slow(*_):
        asked.set()
        await free.wait()
        return lws()

    server = Server(handler(read=slow), None, Address("127.0.0.1", 0), drain=0.0, finish=5.0)
    await server.start()
    url = f"http://127.0.0.1:{server.port}/mutate-pods"
    waiting = asyncio.create_task(session.post(url, data=review(leader())))
    await asked.wait()
    stopping = asyncio.create_task(server.stop())
    await asyncio.sleep(0)
    free.set()
    async with await waiting as answer:
        assert answer.status == 200
        await answer.read()
    await stopping
    with pytest.raises(aiohttp.ClientConnectionError):
        await session.post(url, data=review(leader()))
