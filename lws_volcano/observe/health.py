"""Liveness, readiness and metrics over HTTP.

`/livez` is red when a part of the program hangs: a restart mends that. `/readyz` is red while the caches are not filled
or have not shown a sign of life for too long: a restart does not mend an API server that is away. A standby is ready.
`?verbose` lists every check.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from lws_volcano.observe.metrics import REGISTRY

__all__ = ["Check", "Health", "application", "serve"]

Check = Callable[[], str]
"""Gives what is wrong, or an empty text."""


@dataclass
class Health:
    """Named checks; `before_metrics` brings gauges up to date that are only worth it when somebody looks."""

    live: dict[str, Check] = field(default_factory=dict)
    ready: dict[str, Check] = field(default_factory=dict)
    before_metrics: list[Callable[[], None]] = field(default_factory=list)

    def failures(self, checks: Mapping[str, Check]) -> dict[str, str]:
        """Name -> what is wrong, for every check that fails."""
        found = {name: check() for name, check in checks.items()}
        return {name: wrong for name, wrong in found.items() if wrong}


def application(health: Health) -> web.Application:
    """The web application; `/metrics` speaks the Prometheus formats."""

    async def live(request: web.Request) -> web.Response:
        return _answer(request, health, health.live)

    async def ready(request: web.Request) -> web.Response:
        return _answer(request, health, health.ready)

    async def metrics(request: web.Request) -> web.Response:
        return _metrics(request, health)

    app = web.Application()
    app.router.add_get("/livez", live)
    app.router.add_get("/healthz", live)
    app.router.add_get("/readyz", ready)
    app.router.add_get("/metrics", metrics)
    return app


async def serve(app: web.Application, host: str, port: int) -> web.AppRunner:
    """Start serving; `cleanup()` of what comes back ends it."""
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner


def _answer(request: web.Request, health: Health, checks: Mapping[str, Check]) -> web.Response:
    wrong = health.failures(checks)
    lines = [f"[-] {name}: {wrong[name]}" if name in wrong else f"[+] {name}: ok" for name in checks]
    shown = lines if "verbose" in request.query or wrong else ["ok"]
    return web.Response(status=503 if wrong else 200, text="\n".join(shown) + "\n")


def _metrics(request: web.Request, health: Health) -> web.Response:
    for refresh in health.before_metrics:
        refresh()
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return web.Response(body=encode(REGISTRY), headers={"Content-Type": content_type})
