"""Health and metrics over HTTP.

Covers: both probes, the verbose form, the metrics page. Leaves out: what the controller checks (tests/unit/controller).
"""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from lws_volcano.observe.health import Health, application, serve


class Server:
    """A served Health and a way to ask it."""

    def __init__(self, url: str, health: Health) -> None:
        self.url = url
        self.health = health

    async def get(self, path: str) -> tuple[int, str]:
        """Status and body."""
        async with aiohttp.ClientSession() as session, session.get(self.url + path) as response:
            return response.status, await response.text()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A server with no checks yet."""
    health = Health()
    runner = await serve(application(health), "127.0.0.1", 0)
    yield Server(f"http://127.0.0.1:{runner.addresses[0][1]}", health)
    await runner.cleanup()


async def test_all_is_well(server: Server) -> None:
    """One word for a probe, every check for a person."""
    server.health.live["loop"] = lambda: ""
    assert await server.get("/livez") == (200, "ok\n")
    assert await server.get("/livez?verbose") == (200, "[+] loop: ok\n")


async def test_what_is_wrong_is_said(server: Server) -> None:
    """503 and the reason, and only on the probe it belongs to."""
    server.health.ready |= {"caches": lambda: "waiting for pods", "webhook": lambda: ""}
    assert await server.get("/readyz") == (503, "[-] caches: waiting for pods\n[+] webhook: ok\n")
    assert (await server.get("/livez"))[0] == 200


async def test_metrics_are_ours_and_up_to_date(server: Server) -> None:
    """Gauges are refreshed when somebody looks; nothing of other libraries is there."""
    looked: list[bool] = []
    server.health.before_metrics.append(lambda: looked.append(True))
    status, text = await server.get("/metrics")
    assert (status, looked) == (200, [True])
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP")}
    assert "lws_volcano_queue_depth" in names
    assert all(name.startswith("lws_volcano_") for name in names)
