"""One request to the API server, and its answer checked.

On the aiohttp session that kubernetes_asyncio sets up (TLS, proxy), raw JSON in and out: its typed models cost ten
times the decoding, and with `_preload_content=False` it leaves the HTTP status unchecked.
"""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

import aiohttp

from lws_volcano import __version__
from lws_volcano.kube.clock import Clock, SystemClock
from lws_volcano.kube.credentials import Credentials, load_credentials
from lws_volcano.kube.errors import ApiError, ConfigurationError, ServerError, Unauthorized, Unavailable, error_of
from lws_volcano.kube.outage import Outage
from lws_volcano.kube.resources import Resource

__all__ = ["APPLY", "JSON", "MERGE", "STRATEGIC", "Client", "Json"]

Json = dict[str, Any]

JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"

TIMEOUT: Final = 10.0
"""Seconds for one call, connection and body."""
CONNECT_TIMEOUT: Final = 5.0
_ERROR_BODY: Final = 65536
_FAILED: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    method: str
    path: str
    query: Mapping[str, str] | None
    data: bytes | None
    content_type: str
    limits: aiohttp.ClientTimeout


class Client:
    """Requests to one API server.

    Made by `connect` (a real cluster) or `at` (plain HTTP to an address, in tests); an asynchronous context manager.
    Every method raises `kube.errors`; nothing of aiohttp gets out.

    Attributes
    ----------
    outage
        Ends with the first answer after a time without any.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        host: str,
        clock: Clock,
        credentials: Credentials | None = None,
        rest: Any = None,
    ) -> None:
        self.host = host.rstrip("/")
        self.outage = Outage(clock)
        self._session = session
        self._credentials = credentials
        self._proxy: str | None = getattr(rest, "proxy", None)
        self._server_name: str | None = getattr(rest, "server_hostname", None)

    @classmethod
    async def connect(
        cls, kubeconfig: str | None = None, context: str | None = None, clock: Clock | None = None
    ) -> Self:
        """Client of the cluster that the kubeconfig (or the pod's service account) names; no request is made yet.

        Raises
        ------
        ConfigurationError
            There is no such configuration, or its certificates cannot be read.
        """
        clock = clock or SystemClock()
        credentials = await load_credentials(kubeconfig, context, clock)
        from kubernetes_asyncio.client.rest import RESTClientObject  # noqa: PLC0415 - slow to import

        try:
            rest = RESTClientObject(credentials.configuration)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(f"cannot load the cluster's certificates: {error}") from error
        return cls(rest.pool_manager, credentials.configuration.host, clock, credentials, rest)

    @classmethod
    def at(cls, host: str, clock: Clock | None = None) -> Self:
        """Client of an API server at this address, without credentials."""
        return cls(aiohttp.ClientSession(read_bufsize=2**21), host, clock or SystemClock())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def get(self, resource: Resource, namespace: str, name: str, *, within: float = TIMEOUT) -> Json:
        """One object."""
        return await self.request("GET", resource.path(namespace, name), within=within)

    async def list_page(self, resource: Resource, query: Mapping[str, str], *, within: float = TIMEOUT) -> Json:
        """One page of a list over all namespaces, as it comes: `items` and `metadata`."""
        return await self.request("GET", resource.path(), query=query, within=within)

    async def create(self, resource: Resource, manifest: Json, *, within: float = TIMEOUT) -> Json:
        """Create; raises AlreadyExists."""
        path = resource.path(manifest["metadata"].get("namespace", ""))
        return await self.request("POST", path, body=manifest, within=within)

    async def replace(self, resource: Resource, manifest: Json, *, within: float = TIMEOUT) -> Json:
        """PUT the whole object; raises Conflict when its resourceVersion is not the newest."""
        return await self.request("PUT", resource.path_of(manifest), body=manifest, within=within)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
        within: float = TIMEOUT,
    ) -> Json:
        """The decoded answer to one request; a refused token is renewed and the request made once more.

        Raises
        ------
        ApiError
            The server answered no.
        Unavailable
            It did not answer in time, or not with JSON.
        """
        call = _Call(
            method=method,
            path=path,
            query=query,
            data=None if body is None else json.dumps(body, separators=(",", ":")).encode(),
            content_type=content_type,
            limits=aiohttp.ClientTimeout(total=within, sock_connect=min(CONNECT_TIMEOUT, within)),
        )
        try:
            return await self._once(call)
        except Unauthorized:
            if self._credentials is None:
                raise
            return await self._once(call)

    async def _once(self, call: _Call) -> Json:
        async with self._open(call) as response:
            received = await response.read()
        try:
            decoded = json.loads(received)
        except ValueError:
            raise Unavailable(f"{call.method} {call.path}: the answer is not JSON: {received[:80]!r}") from None
        if not isinstance(decoded, dict):
            raise Unavailable(f"{call.method} {call.path}: the answer is not an object: {received[:80]!r}")
        return decoded

    @asynccontextmanager
    async def stream(
        self, path: str, query: Mapping[str, str], *, connect_within: float = TIMEOUT
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """The body of a GET that does not end by itself; only the wait for its first byte is limited here.

        Raises
        ------
        ApiError, Unavailable
            As in `request`, also while the body is read.
        """
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT)
        call = _Call(method="GET", path=path, query=query, data=None, content_type=JSON, limits=limits)
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(connect_within):
                    response = await stack.enter_async_context(self._open(call))
            except TimeoutError:
                self.outage.failed()
                raise Unavailable(f"GET {path}: no answer within {connect_within:g} s") from None
            # An open watch must not go back into the pool of connections.
            stack.callback(response.close)
            yield response.content

    @asynccontextmanager
    async def _open(self, call: _Call) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.request(
                call.method,
                self.host + call.path,
                params=call.query,
                data=call.data,
                headers=await self._headers(call.content_type),
                timeout=call.limits,
                proxy=self._proxy,
                server_hostname=self._server_name,
                allow_redirects=False,
            ) as response:
                if response.status >= _FAILED:
                    if response.status == Unauthorized.STATUS and self._credentials is not None:
                        self._credentials.expire()
                    raise await _failure(response)
                self.outage.answered()
                yield response
        except ServerError:
            self.outage.failed()
            raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.outage.failed()
            raise Unavailable(f"{call.method} {call.path}: {_describe(error)}") from error

    async def _headers(self, content_type: str) -> dict[str, str]:
        own = {"Accept": JSON, "Content-Type": content_type, "User-Agent": f"lws-volcano/{__version__}"}
        return own if self._credentials is None else own | await self._credentials.headers()


async def _failure(response: aiohttp.ClientResponse) -> ApiError:
    body = await response.content.read(_ERROR_BODY)
    return error_of(response.status, body, response.headers.get("Retry-After", ""))


def _describe(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    if type(error) is aiohttp.ClientConnectorError and error.os_error.errno:
        return f"{os.strerror(error.os_error.errno)} ({error.host}:{error.port})"
    return f"{type(error).__name__}: {error}"[:256]
