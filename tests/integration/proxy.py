"""A faulty way to the API server: HTTP on loopback in front, TLS with the user's certificate behind.

While it is told to misbehave it draws a fault for a share of the requests, from a seeded generator, and now and then
breaks a watch that is open. What it does to a request is what networks, proxies and busy API servers do:

    slow        answered late
    refused     the connection is reset before anything was done
    lost        the request is carried out, its answer is not delivered
    torn        the connection is reset in the middle of the body
    half open   nothing is ever answered
    conflict    409, for writes
    gone        410, for lists and watches; in a watch also as an ERROR event
    busy        429 with Retry-After
    broken      500
    html        a page of HTML, with 200 or 502

`stalled` is another thing: every byte stops, in both directions, until it is lifted.
"""

import asyncio
import contextlib
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from deploy.local.control_plane import ControlPlane
from deploy.local.kubeconfig import Access

__all__ = ["FAULTS", "HELD_UP", "Asked", "FaultyProxy", "faulty_proxy"]

READS = ("slow", "refused", "torn", "half open", "gone", "busy", "broken", "html")
WRITES = ("lost", "conflict", "slow", "refused", "torn", "half open", "busy", "broken", "html")
HELD_UP = 3.0
"""Seconds for which a request is held up at most."""
FAULTS = tuple(dict.fromkeys(READS + WRITES))
HTML = "<html><body><h1>502 Bad Gateway</h1>" + "<p>please come again</p>" * 200 + "</body></html>"
HELD = 12.0
"""Seconds after which a half-open connection is closed: longer than the product waits for an answer."""
BREAK_EVERY = 1.5
"""Seconds, on average, that a watch lives while the proxy misbehaves."""
_HOP = {"host", "connection", "transfer-encoding", "content-length", "keep-alive"}


@dataclass(frozen=True)
class Asked:
    """One request that came in; `time` is monotonic."""

    time: float
    method: str
    path: str
    watch: bool


class FaultyProxy:
    """Forwards every request; see the module for what else it does.

    Parameters
    ----------
    access : Access
        The API server, and the certificate of the user that requests are made as.
    seed : int
        The same requests in the same order meet the same faults.
    """

    def __init__(self, access: Access, seed: int) -> None:
        self._access = access
        self._random = random.Random(seed)
        self._share = 0.0
        self._moving = asyncio.Event()
        self._moving.set()
        self._waiting: dict[tuple[str, ...], list[str]] = {}
        self.asked: list[Asked] = []
        self.injected: Counter[str] = Counter()

    def misbehave(self, share: float) -> None:
        """From now on this share of the requests meets a fault; 0 ends it."""
        self._share = share

    def stall(self) -> None:
        """Stop every byte, of open connections too."""
        self._moving.clear()

    def move(self) -> None:
        """End of the stall."""
        self._moving.set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Listen while entered; gives the URL."""
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, auto_decompress=False)
        connector = aiohttp.TCPConnector(ssl=self._access.ssl, limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as self._session:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            try:
                yield f"http://127.0.0.1:{runner.addresses[0][1]}"
            finally:
                self._share = 0.0
                self.move()
                await runner.cleanup()

    # --- one request

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        watch = request.query.get("watch") == "true"
        self.asked.append(Asked(time.monotonic(), request.method, request.path, watch))
        await self._moving.wait()
        if request.transport is None or request.transport.is_closing():
            return web.Response()  # given up meanwhile: it does not reach the server any more
        fault = self._draw(READS if request.method == "GET" else WRITES)
        if fault:
            self.injected[fault] += 1
            answer = await self._fault(request, fault)
            if answer is not None:
                return answer
        try:
            return await self._forward(request, watch=watch, fault=fault)
        except (aiohttp.ClientError, ConnectionError):
            return _reset(request)

    def _draw(self, faults: tuple[str, ...]) -> str:
        if self._random.random() >= self._share:
            return ""
        # Each has its turn before one comes again; the few writes begin with what only writes meet.
        waiting = self._waiting.setdefault(faults, list(faults))
        fault = waiting.pop(0)
        if not waiting:
            waiting += self._random.sample(faults, len(faults))
        return fault

    async def _fault(self, request: web.Request, fault: str) -> web.StreamResponse | None:
        """The answer of a fault that takes the place of the API server's; None for one that changes it."""
        answers: Mapping[str, Callable[[], web.Response]] = {
            "conflict": lambda: _status(409, "Conflict", "the object has been modified"),
            "gone": lambda: _status(410, "Expired", "too old resource version"),
            "busy": lambda: _status(429, "TooManyRequests", "try again", retry_after="1"),
            "broken": lambda: _status(500, "InternalError", "etcdserver: leader changed"),
            "html": lambda: web.Response(status=self._random.choice((200, 502)), text=HTML, content_type="text/html"),
        }
        if fault in answers:
            return answers[fault]()
        if fault == "refused":
            return _reset(request)
        if fault == "half open":
            await self._hold(request)
            return _reset(request)
        if fault == "slow":
            await asyncio.sleep(self._random.uniform(0.2, HELD_UP))
        return None

    async def _hold(self, request: web.Request) -> None:
        end = time.monotonic() + HELD
        while time.monotonic() < end and request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.1)

    async def _forward(self, request: web.Request, *, watch: bool, fault: str) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        limits = aiohttp.ClientTimeout(total=None, sock_connect=5)
        async with self._session.request(
            request.method,
            self._access.server + request.raw_path,
            data=await request.read(),
            headers=headers,
            timeout=limits,
            allow_redirects=False,
        ) as answer:
            if watch:
                return await self._stream(request, answer)
            body = await answer.read()
            await self._moving.wait()
            if fault == "lost":
                return _reset(request)
            response = _response(answer)
            response.content_length = len(body)
            await response.prepare(request)
            await response.write(body[: len(body) // 2] if fault == "torn" else body)
            if fault == "torn":
                return _reset(request, response)
            await response.write_eof()
            return response

    async def _stream(self, request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        """Forward a watch; while the proxy misbehaves it ends in one way or another before long."""
        response = _response(answer)
        await response.prepare(request)
        reading: asyncio.Task[bytes] | None = None
        try:
            while True:
                reading = reading or asyncio.ensure_future(answer.content.readany())
                await asyncio.wait((reading,), timeout=0.1)
                await self._moving.wait()
                if self._share and self._random.random() < 0.1 / BREAK_EVERY:
                    return await self._break(request, response, reading)
                if not reading.done():
                    continue
                chunk, reading = reading.result(), None
                if not chunk:
                    await response.write_eof()
                    return response
                await response.write(chunk)
        finally:
            if reading is not None:
                reading.cancel()
                with contextlib.suppress(asyncio.CancelledError, aiohttp.ClientError, ConnectionError):
                    await reading

    async def _break(
        self, request: web.Request, response: web.StreamResponse, reading: asyncio.Task[bytes]
    ) -> web.StreamResponse:
        """End a watch: cleanly, by a reset in the middle of a line, by 410, by rubbish."""
        way = self._random.choice(("closed", "torn", "gone", "html"))
        self.injected[f"watch {way}"] += 1
        if way == "gone":
            error = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
            await response.write(json.dumps({"type": "ERROR", "object": error}).encode() + b"\n")
        if way == "html":
            await response.write(HTML.encode() + b"\n")
        if way == "torn":
            chunk = reading.result() if reading.done() and not reading.cancelled() else b'{"type":"MODIFIED","obj'
            await response.write(chunk[: len(chunk) * 2 // 3])
            return _reset(request, response)
        await response.write_eof()
        return response


@asynccontextmanager
async def faulty_proxy(
    plane: ControlPlane, user: str, rules: Sequence[Any], *, seed: int
) -> AsyncIterator[tuple[FaultyProxy, Path]]:
    """A proxy before the API server, and a kubeconfig of the user that goes through it."""
    access = Access.read(await plane.kubeconfig_for(user, rules))
    proxy = FaultyProxy(access, seed)
    async with proxy.serving() as url:
        yield proxy, await plane.kubeconfig_for(user, rules, server=url)


def _response(answer: aiohttp.ClientResponse) -> web.StreamResponse:
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
    return web.StreamResponse(status=answer.status, headers=headers)


def _status(code: int, reason: str, message: str, retry_after: str = "") -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    headers = {"Retry-After": retry_after} if retry_after else {}
    return web.json_response({**body, "message": message}, status=code, headers=headers)


def _reset(request: web.Request, begun: web.StreamResponse | None = None) -> web.StreamResponse:
    """Close the connection at once; what is returned reaches nobody."""
    if request.transport is not None:
        request.transport.abort()
    return begun or web.Response()
