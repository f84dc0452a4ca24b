"""The webhook of one process, put together: certificate, server, registration. Runs on every replica."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

from lws_volcano.api.errors import LwsVolcanoError
from lws_volcano.api.settings import Settings
from lws_volcano.kube.client import Client
from lws_volcano.kube.clock import Clock, SystemClock
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.gateway import Configurations, SecretMaterial, SetReader
from lws_volcano.webhook.handler import Handler, Known
from lws_volcano.webhook.hints import HintSource, NoHints
from lws_volcano.webhook.keeper import CertificateKeeper, KeeperOptions, server_context
from lws_volcano.webhook.lookup import Lookup, Source
from lws_volcano.webhook.options import WebhookOptions
from lws_volcano.webhook.registration import Registration
from lws_volcano.webhook.server import Server

__all__ = ["Webhook"]

_log = structlog.get_logger(__name__)
_EARLY: Final = 0.1
"""Seconds between two looks whether the replica is prepared."""


class Webhook:
    """Serves until it is cancelled.

    Parameters
    ----------
    leading
        Whether this replica may write what all share (the registration). A replica whose certificate authority is its
        own adds it to the registration whether it leads or not: nobody else can.
    prepared
        Whether hints can be given as well as they ever will. Behind a Service nobody asks a replica that is not ready;
        a registration that names this process itself is therefore not written before.
    """

    def __init__(
        self,
        client: Client,
        cluster: Cluster,
        settings: Settings,
        options: WebhookOptions,
        *,
        leading: Callable[[], bool],
        hints: HintSource | None = None,
        clock: Clock | None = None,
        prepared: Callable[[], bool] = lambda: True,
    ) -> None:
        self._client = client
        self._prepared = prepared
        self._settings = settings
        self._options = options
        self._leading = leading
        self._clock = clock or SystemClock()
        self._lookup = self._make_lookup(cluster)
        context = server_context()
        self._keeper = CertificateKeeper(context, self._keeper_options())
        known = Known(
            cluster=cluster, lookup=self._lookup, hints=hints or NoHints(), settings=settings, clock=self._clock
        )
        # Only a Service has endpoints that take a moment to learn that we are going.
        drain = 0.0 if options.url_host else options.drain
        self._server = Server(Handler(known), context, options.address, drain=drain, finish=options.finish)
        self._listening = False

    @property
    def port(self) -> int:
        """The port listened on, once `run` has got that far."""
        return self._server.port

    def unready(self) -> str:
        """Why no pod can be answered yet, or any more; empty when all is well."""
        if not self._keeper.ca_bundle:
            return "no serving certificate yet"
        return "" if self._listening else "not listening"

    async def run(self) -> None:
        """Get a certificate, listen, and keep certificate and registration in step; stops gracefully when cancelled.

        Raises
        ------
        OSError
            The address can't be listened on.
        """
        await self._first_certificate()
        await self._server.start()
        self._listening = True
        _log.info("webhook listening", port=self.port)
        try:
            await self._keep()
        finally:
            self._listening = False
            await self._server.stop()
            await self._lookup.close()

    async def _first_certificate(self) -> None:
        while not self._keeper.ca_bundle:
            await self._attempt(self._keeper.step)
            if not self._keeper.ca_bundle:
                await self._clock.sleep(1.0)

    async def _keep(self) -> None:
        registration, early = self._registration(), bool(self._options.url_host)
        while True:
            await self._attempt(self._keeper.step)
            early = early and not self._prepared()
            if early:
                await self._clock.sleep(min(_EARLY, self._options.upkeep))
                continue
            if registration and (self._leading() or not self._keeper.shared):
                await self._attempt(lambda: registration.step(self._keeper.ca_bundle, shared=self._keeper.shared))
            await self._clock.sleep(self._options.upkeep)

    async def _attempt(self, step: Callable[[], Coroutine[Any, Any, bool]]) -> None:
        """One step; a failure is said, and the next round tries again."""
        try:
            await step()
        except LwsVolcanoError as error:
            _log.warning("webhook upkeep failed, trying again", error=str(error))

    def _make_lookup(self, cluster: Cluster) -> Lookup:
        store, timeout = cluster.kinds.lws.store, self._options.lookup_timeout
        source = Source(
            cached=lambda namespace, name: store.get(f"{namespace}/{name}"),
            read=SetReader(self._client, timeout),
            clock=self._clock.monotonic,
            timeout=timeout,
        )
        return Lookup(source)

    def _keeper_options(self) -> KeeperOptions:
        options = self._options
        shared = SecretMaterial(self._client, options.namespace, options.secret) if options.secret else None
        return KeeperOptions(names=options.names(), store=shared, clock=self._clock)

    def _registration(self) -> Registration | None:
        mode = self._options.mode
        if mode is None:
            return None
        registered = self._options.registered(self._settings.scheduler_name, self.port)
        return Registration(registered=registered, mode=mode, store=Configurations(self._client), clock=self._clock)
