"""An API server in memory: list with pages, watch with bookmarks, apply, merge, delete, and faults on request.

Covers what the controller uses, as the API conventions describe it: resource versions that count upwards, 410 below the
oldest event kept, UID and version preconditions, status apart. Leaves out: validation, admission, field ownership,
garbage collection; those are the real API server's part (tests/integration).
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from lws_volcano.kube.resources import Resource

Json = dict[str, Any]
Fault = Callable[["ApiServer", web.Request], Awaitable[web.StreamResponse]]
"""Answers a request in place of the server."""


def status(code: int, reason: str, message: str = "", **details: Any) -> Json:
    """A Status object."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return body | {"message": message or reason, "details": details}


def refused(code: int, reason: str, message: str = "", headers: dict[str, str] | None = None) -> Fault:
    """Answer with a Status."""

    async def answer(_: "ApiServer", __: web.Request) -> web.Response:
        return web.json_response(status(code, reason, message), status=code, headers=headers)

    return answer


def html(code: int = 500) -> Fault:
    """Answer with the page of a proxy."""

    async def answer(_: "ApiServer", __: web.Request) -> web.Response:
        page = "<html><body>" + "<h1>Bad gateway</h1>" * 200 + "</body></html>"
        return web.Response(status=code, text=page, content_type="text/html")

    return answer


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    authorization: str = ""

    @property
    def writes(self) -> bool:
        """Whether it was no read."""
        return self.method != "GET"

    @property
    def watches(self) -> bool:
        """Whether it was a watch."""
        return self.query.get("watch") == "true"


@dataclass
class ApiServer:
    """Start with `async with`; `url` is where it is."""

    objects: dict[str, Json] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    """Plurals of kinds that are not installed."""
    forbidden: set[str] = field(default_factory=set)
    """Plurals of kinds that may not be read."""
    oldest: int = 0
    """Versions below this have expired."""
    url: str = ""
    away: bool = False
    """Every request is answered with 503."""
    turned_away: int = 0
    _version: int = 100
    _log: list[tuple[int, str, Json]] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _epoch: int = 0
    _faults: dict[tuple[str, str], list[Fault]] = field(default_factory=lambda: defaultdict(list))

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    # --- the world

    def put(self, resource: Resource, manifest: Json) -> Json:
        """Create an object or take its new state, as another client would."""
        metadata = manifest["metadata"]
        path = resource.path(metadata.get("namespace", ""), metadata["name"])
        return self._store(path, manifest)

    def remove(self, resource: Resource, namespace: str, name: str) -> None:
        """Delete an object."""
        self._remove(resource.path(namespace, name))

    def get(self, resource: Resource, namespace: str, name: str) -> Json | None:
        """The object as it is."""
        return self.objects.get(resource.path(namespace, name))

    def all(self, resource: Resource) -> list[Json]:
        """All objects of a kind."""
        return [item for path, item in sorted(self.objects.items()) if _plural(path) == resource.plural]

    def fail(self, method: str, plural: str, *faults: Fault) -> None:
        """Let the next requests of this sort (GET, WATCH, PATCH, ...) be answered by these."""
        self._faults[method, plural].extend(faults)

    def faults_left(self) -> int:
        """Faults that no request has met yet."""
        return sum(len(faults) for faults in self._faults.values())

    def end_watches(self) -> None:
        """End every open watch cleanly; the next ones begin where those ended."""
        self._epoch += 1
        self.wake()

    def wake(self) -> None:
        """Let the open watches look again."""
        self._news.set()
        self._news = asyncio.Event()

    @property
    def version(self) -> int:
        """The newest resource version."""
        return self._version

    def tick(self) -> int:
        """Another object somewhere has changed."""
        self._version += 1
        return self._version

    def writes(self) -> list[Asked]:
        """Requests that were no reads."""
        return [asked for asked in self.asked if asked.writes]

    # --- requests

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"null")
        asked = Asked(request.method, request.path, dict(request.query), body, request.headers.get("Authorization", ""))
        self.asked.append(asked)
        plural = _plural(request.path)
        if self.away:
            self.turned_away += 1
            return web.json_response(status(503, "ServiceUnavailable"), status=503)
        if plural in self.missing:
            return web.json_response(status(404, "NotFound"), status=404)
        if plural in self.forbidden:
            return web.json_response(status(403, "Forbidden", f"cannot {request.method} {plural}"), status=403)
        faults = self._faults["WATCH" if asked.watches else request.method, plural]
        if faults:
            return await faults.pop(0)(self, request)
        if request.method == "GET":
            return await self.answer_get(request)
        return self._answer_write(asked)

    async def answer_write(self, request: web.Request) -> web.StreamResponse:
        """The true answer to a write."""
        body = json.loads(await request.read() or b"null")
        return self._answer_write(Asked(request.method, request.path, dict(request.query), body))

    async def answer_get(self, request: web.Request) -> web.StreamResponse:
        """The true answer to a GET."""
        if request.query.get("watch") == "true":
            return await self.answer_watch(request)
        if request.path in self.objects:
            return web.json_response(self.objects[request.path])
        if not _is_collection(request.path):
            return web.json_response(status(404, "NotFound"), status=404)
        return web.json_response(self._page(request))

    def _page(self, request: web.Request) -> Json:
        items = [
            item
            for path, item in sorted(self.objects.items())
            if path.startswith(request.path + "/") or _plural(path) == _plural(request.path)
        ]
        start = int(request.query.get("continue", "0"))
        end = start + int(request.query.get("limit", len(items) or 1))
        metadata = {"resourceVersion": str(self._version)}
        if end < len(items):
            metadata["continue"] = str(end)
        return {"kind": "List", "metadata": metadata, "items": items[start:end]}

    async def answer_watch(self, request: web.Request, most: int | None = None) -> web.StreamResponse:
        """A true watch, which ends after `most` events."""
        version = int(request.query["resourceVersion"])
        if version < self.oldest:
            return web.json_response(status(410, "Expired", "too old resource version"), status=410)
        response = web.StreamResponse()
        await response.prepare(request)
        sent, epoch = 0, self._epoch
        while epoch == self._epoch and (most is None or sent < most):
            news = self._news
            for at, plural, event in list(self._log):
                if at > version and plural == _plural(request.path) and (most is None or sent < most):
                    await response.write(json.dumps(event).encode() + b"\n")
                    version, sent = at, sent + 1
            if epoch == self._epoch and (most is None or sent < most):
                await news.wait()
        return response

    def _answer_write(self, asked: Asked) -> web.Response:
        present = self.objects.get(asked.path)
        if asked.method == "POST":
            path = f"{asked.path}/{asked.body['metadata']['name']}"
            if path in self.objects:
                return web.json_response(status(409, "AlreadyExists"), status=409)
            return web.json_response(self._store(path, asked.body), status=201)
        if asked.path.endswith("/status"):
            return self._write_status(asked)
        wrong = self._precondition(asked, present)
        if wrong is not None:
            return wrong
        if asked.method == "DELETE":
            self._remove(asked.path)
            return web.json_response({"kind": "Status", "status": "Success", "metadata": {}})
        if asked.method == "PUT":
            return web.json_response(self._store(asked.path, asked.body))
        return web.json_response(self._store(asked.path, _merged(present or {}, asked.body)))

    def _precondition(self, asked: Asked, present: Json | None) -> web.Response | None:
        wanted = asked.body.get("preconditions", {}) if asked.method == "DELETE" else asked.body.get("metadata", {})
        if present is None:
            creates = asked.query.get("force") == "true" and "uid" not in wanted
            return None if creates else web.json_response(status(404, "NotFound"), status=404)
        for name in ("uid", "resourceVersion"):
            if wanted.get(name, present["metadata"][name]) != present["metadata"][name]:
                return web.json_response(status(409, "Conflict", f"{name} differs"), status=409)
        return None

    def _write_status(self, asked: Asked) -> web.Response:
        path = asked.path.removesuffix("/status")
        if path not in self.objects:
            return web.json_response(status(404, "NotFound"), status=404)
        return web.json_response(self._store(path, {**self.objects[path], "status": asked.body["status"]}))

    # --- storage

    def _store(self, path: str, manifest: Json) -> Json:
        present = self.objects.get(path)
        version = self.tick()
        known = present["metadata"]["uid"] if present else f"uid-{version}"
        # The UID of a new object is the server's, unless the test gives one.
        uid = manifest["metadata"].get("uid") or known
        item = {**manifest, "metadata": {**manifest["metadata"], "uid": uid, "resourceVersion": str(version)}}
        self.objects[path] = item
        self._log.append((version, _plural(path), {"type": "MODIFIED" if present else "ADDED", "object": item}))
        self.wake()
        return item

    def _remove(self, path: str) -> None:
        item = self.objects.pop(path)
        version = self.tick()
        item = {**item, "metadata": {**item["metadata"], "resourceVersion": str(version)}}
        self._log.append((version, _plural(path), {"type": "DELETED", "object": item}))
        self.wake()


def _plural(path: str) -> str:
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    return rest[2] if rest[0] == "namespaces" and len(rest) > 2 else rest[0]


def _is_collection(path: str) -> bool:
    return path.endswith(f"/{_plural(path)}")


def _merged(old: Json, new: Json) -> Json:
    result = dict(old)
    for key, value in new.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result
