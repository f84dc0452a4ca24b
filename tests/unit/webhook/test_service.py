"""The webhook of one process put together, against a scripted API server over HTTP: start, upkeep, who writes, stop.

Left out: TLS and admission by a real API server (tests/integration/test_webhook.py).
"""

import asyncio
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, web

from lws_volcano.api.settings import Settings
from lws_volcano.kube.client import Client
from lws_volcano.kube.clock import SystemClock
from lws_volcano.observe.address import Address
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.options import WebhookOptions
from lws_volcano.webhook.service import Webhook

SECRET = "/api/v1/namespaces/gpu/secrets"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/lws-volcano"


class ApiServer:
    """Holds one Secret and one configuration; answers `trouble` to everything while that is set."""

    def __init__(self):
        self.trouble = 0
        self.secrets_forbidden = False
        self.secret = None
        self.configuration = None
        self.configuration_writes = 0
        self.asked = 0

    async def answer(self, request):
        """One request."""
        self.asked += 1
        if self.trouble:
            return web.Response(status=self.trouble, text="<html>no</html>")
        if request.path.startswith(SECRET):
            return await self._secret(request)
        if request.method == "PATCH":
            self.configuration = await request.json()
            self.configuration_writes += 1
        return _object(self.configuration)

    async def _secret(self, request):
        if self.secrets_forbidden:
            return web.json_response({"kind": "Status", "reason": "Forbidden", "message": "no"}, status=403)
        if request.method == "POST":
            self.secret = await request.json()
            self.secret["metadata"]["resourceVersion"] = "1"
        return _object(self.secret)


def _object(found):
    if found is None:
        return web.json_response({"kind": "Status", "reason": "NotFound", "message": "none"}, status=404)
    return web.json_response(found)


@pytest.fixture
async def api_server():
    """A scripted API server and a client of it."""
    script = ApiServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", script.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    async with Client.at(f"http://127.0.0.1:{runner.addresses[0][1]}") as client:
        script.client = client
        yield script
    await runner.cleanup()


class Hurried(SystemClock):
    """The machine's clock, a hundred times as fast where it waits."""

    async def sleep(self, seconds):
        """Wait a hundredth."""
        await asyncio.sleep(seconds / 100)


@asynccontextmanager
async def running(api_server, *, leading=True, prepared=lambda: True, **options):
    """A webhook that runs."""
    chosen = WebhookOptions(
        **{
            "address": Address("127.0.0.1", 0),
            "namespace": "gpu",
            "url_host": "127.0.0.1",
            "registration": "manage",
            "upkeep": 1.0,
            **options,
        }
    )
    hook = Webhook(
        api_server.client,
        Cluster(),
        Settings(),
        chosen,
        leading=lambda: leading,
        clock=Hurried(),
        prepared=prepared,
    )
    task = asyncio.create_task(hook.run())
    try:
        yield hook
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(look):
    """Wait until it is so."""
    async with asyncio.timeout(20):
        while not look():
            await asyncio.sleep(0.005)


async def looked_often(api_server):
    """Several more rounds of upkeep have gone by."""
    seen = api_server.asked
    await until(lambda: api_server.asked > seen + 8)


async def test_starts_when_the_api_server_comes(api_server):
    """No API server: not ready, says why, goes on trying; then it is there and all is set up."""
    api_server.trouble = 503
    async with running(api_server) as hook:
        await until(lambda: api_server.asked > 2)
        assert hook.unready() == "no serving certificate yet"
        api_server.trouble = 0
        await until(lambda: not hook.unready() and api_server.configuration)
        assert f":{hook.port}/" in api_server.configuration["webhooks"][0]["clientConfig"]["url"]


async def test_nobody_is_sent_to_a_process_that_cannot_give_hints_yet(api_server):
    """Registered under its own address only when it is prepared; from then on whatever becomes of that."""
    known = []
    async with running(api_server, prepared=lambda: bool(known)) as hook:
        await until(lambda: not hook.unready())
        await asyncio.sleep(0.05)
        assert not api_server.configuration
        known.append("topology")
        await until(lambda: api_server.configuration)
        known.clear()
        api_server.configuration = None
        await until(lambda: api_server.configuration)


async def test_trouble_later_leaves_it_serving(api_server):
    """The API server goes away afterwards: upkeep fails and is tried again, the webhook stays ready."""
    async with running(api_server) as hook:
        await until(lambda: api_server.configuration)
        api_server.trouble = 500
        await looked_often(api_server)
        assert hook.unready() == ""
        api_server.trouble, api_server.configuration = 0, None
        await until(lambda: api_server.configuration)


async def test_unchanged_upkeep_writes_nothing(api_server):
    """Round after round without a write."""
    async with running(api_server):
        await until(lambda: api_server.configuration)
        await looked_often(api_server)
    assert api_server.configuration_writes == 1


@pytest.mark.parametrize(
    ("options", "forbidden", "written"),
    [
        ({"leading": True}, False, True),
        ({"leading": False}, False, False),
        ({"leading": False}, True, True),
        ({"leading": True, "registration": "none"}, False, False),
        ({"leading": True, "registration": "ca-bundle"}, False, False),
    ],
)
async def test_who_writes_the_registration(api_server, options, forbidden, written):
    """The leader; a replica with an authority of its own as well; nobody where it is not ours or not installed."""
    api_server.secrets_forbidden = forbidden
    async with running(api_server, **options) as hook:
        await until(lambda: not hook.unready())
        await looked_often(api_server)
    assert (api_server.configuration is not None) is written


async def test_cancelled_means_gone(api_server):
    """After the end nobody listens, and it says so."""
    async with running(api_server) as hook:
        await until(lambda: not hook.unready())
        port = hook.port
    assert hook.unready() == "not listening"
    async with ClientSession() as session:
        with pytest.raises(OSError, match="Cannot connect"):
            await session.post(f"https://127.0.0.1:{port}/mutate-pods")


@pytest.mark.parametrize(
    ("options", "names", "url"),
    [
        ({"url_host": "10.0.0.7"}, ("10.0.0.7",), "https://10.0.0.7:9443/mutate-pods"),
        ({"url_host": "fd00::7"}, ("fd00::7",), "https://[fd00::7]:9443/mutate-pods"),
        (
            {"namespace": "gpu", "service": "hook"},
            ("hook.gpu.svc", "hook.gpu.svc.cluster.local", "hook.gpu"),
            None,
        ),
    ],
)
def test_names_of_the_certificate(options, names, url):
    """The names by which the API server calls, and the target that goes with them."""
    chosen = WebhookOptions(**options)
    assert chosen.names() == names
    target = chosen.registered("volcano", 9443).target
    assert target == url if url else (target.name, target.namespace) == ("hook", "gpu")
