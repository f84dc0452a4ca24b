"""A small client for raw JSON, for the stand-ins and the tests.

Kept apart from `lws_volcano.kube` on purpose: a mistake there must not hide in what checks it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from deploy.local.errors import ApiError
from deploy.local.kubeconfig import Access

__all__ = ["Api", "Object", "Resource"]

Object = dict[str, Any]

TIMEOUT: Final = 30.0
WATCH_TIMEOUT: Final = 300
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Resource:
    """One kind of the API."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str = "", name: str = "", sub: str = "") -> str:
        """Path of the collection, an object, or a sub-resource of it."""
        base = "/api/" if "/" not in self.api_version else "/apis/"
        parts = [base + self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        return "/".join([*parts, *(part for part in (self.plural, name, sub) if part)])


class Api:
    """Requests to one API server.

    Parameters
    ----------
    access : Access
        Where and as whom.
    agent : str
        User agent, which audit logs and tests can tell apart.
    """

    def __init__(self, access: Access, agent: str = "lws-volcano-local") -> None:
        self._access = access
        self._agent = agent
        self._session: aiohttp.ClientSession | None = None

    @classmethod
    def from_kubeconfig(cls, path: Path, agent: str = "lws-volcano-local") -> Self:
        """As the user of a kubeconfig."""
        return cls(Access.read(path), agent)

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            self._access.server,
            connector=aiohttp.TCPConnector(ssl=self._access.ssl, limit=0),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT),
            headers={"User-Agent": self._agent},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            await asyncio.sleep(0)

    @property
    def session(self) -> aiohttp.ClientSession:
        """The open session, for requests of another shape."""
        if self._session is None:
            raise RuntimeError("use `async with Api(...)`")
        return self._session

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        content: str = "application/json",
    ) -> Any:
        """Send a request and decode the answer.

        Raises
        ------
        ApiError
            The status is 400 or higher.
        """
        data = None if body is None else json.dumps(body, separators=(",", ":"))
        async with self.session.request(
            method, path, data=data, params=params, headers={"Content-Type": content}
        ) as answer:
            text = await answer.text()
            if answer.status >= 400:  # noqa: PLR2004 - HTTP
                raise _error(answer.status, text)
            return json.loads(text) if text.startswith(("{", "[")) else text

    async def get(self, resource: Resource, name: str, namespace: str = "", sub: str = "") -> Object:
        """Read an object."""
        found: Object = await self.request("GET", resource.path(namespace, name, sub))
        return found

    async def find(self, resource: Resource, name: str, namespace: str = "") -> Object | None:
        """An object, or None where there is none."""
        try:
            return await self.get(resource, name, namespace)
        except ApiError as error:
            if error.status == 404:  # noqa: PLR2004 - HTTP
                return None
            raise

    async def list(self, resource: Resource, namespace: str = "", **params: str) -> list[Object]:
        """Every object of a kind; `params` such as labelSelector go into the query."""
        found = await self.request("GET", resource.path(namespace), params=params)
        items: list[Object] = found["items"]
        return items

    async def create(self, resource: Resource, body: Object, *, sub: str = "", name: str = "") -> Object:
        """Create an object, or (with `sub`) post to a sub-resource."""
        namespace = body["metadata"].get("namespace", "")
        full = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        made: Object = await self.request("POST", resource.path(namespace, name, sub), full)
        return made

    async def ensure(self, resource: Resource, body: Object) -> None:
        """Create an object; one that is there already stays."""
        try:
            await self.create(resource, body)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    async def replace(self, resource: Resource, body: Object, sub: str = "") -> Object:
        """Replace an object as a whole."""
        meta = body["metadata"]
        made: Object = await self.request("PUT", resource.path(meta.get("namespace", ""), meta["name"], sub), body)
        return made

    async def patch(
        self, resource: Resource, name: str, body: Any, namespace: str = "", *, sub: str = "", content: str = MERGE
    ) -> Object:
        """Patch an object; a merge patch unless `content` says otherwise."""
        made: Object = await self.request("PATCH", resource.path(namespace, name, sub), body, content=content)
        return made

    async def apply(self, resource: Resource, body: Object, manager: str, *, sub: str = "") -> Object:
        """Server-side apply, with force."""
        meta = body["metadata"]
        full = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        made: Object = await self.request(
            "PATCH",
            resource.path(meta.get("namespace", ""), meta["name"], sub),
            full,
            params={"fieldManager": manager, "force": "true"},
            content=APPLY,
        )
        return made

    async def delete(self, resource: Resource, name: str, namespace: str = "", **options: Any) -> None:
        """Delete an object; nothing happens where it is gone. `options` are those of DeleteOptions."""
        try:
            await self.request("DELETE", resource.path(namespace, name), options or None)
        except ApiError as error:
            if error.status != 404:  # noqa: PLR2004 - HTTP
                raise

    async def watch(
        self, resource: Resource, namespace: str = "", version: str = "", **params: str
    ) -> AsyncIterator[Object]:
        """One watch request: raw events until the server ends it."""
        query = {"watch": "true", "timeoutSeconds": str(WATCH_TIMEOUT), "resourceVersion": version, **params}
        async with self.session.get(
            resource.path(namespace),
            params=query,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=WATCH_TIMEOUT + TIMEOUT),
        ) as answer:
            if answer.status >= 400:  # noqa: PLR2004 - HTTP
                raise _error(answer.status, await answer.text())
            async for line in lines(answer.content):
                yield json.loads(line)


async def lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of a stream, however long (a StreamReader's own limit is 128 KB)."""
    rest = b""
    async for chunk in stream.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


def _error(status: int, text: str) -> ApiError:
    try:
        answer = json.loads(text)
        return ApiError(status, str(answer.get("reason", "")), str(answer.get("message", ""))[:1000])
    except (ValueError, AttributeError):
        return ApiError(status, "", text[:256])
