"""The HTTPS server of the webhook, on every replica."""

import asyncio
import ssl
from dataclasses import dataclass

from aiohttp import web

from lws_volcano.webhook.configuration import PATH
from lws_volcano.webhook.handler import Handler

__all__ = ["Address", "Server"]

_LARGEST_REVIEW = 8 * 2**20
"""Bytes. etcd holds 1.5 MiB an object; a review carries it twice at most, and JSON is longer than the stored form."""
_KEEPALIVE = 150.0
"""Seconds. Longer than the 90 after which API servers drop idle connections: the one who calls closes first, so no
request runs into a connection that is just being closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen (port 0: any free one), and how long to stop.

    Attributes
    ----------
    drain
        Seconds between the call of `stop` and the end of listening, while endpoints learn that we are going.
    finish
        Seconds given to the requests that are still under way after that.
    """

    host: str = "0.0.0.0"  # noqa: S104 - a pod's address isn't known beforehand
    port: int = 9443
    drain: float = 3.0
    finish: float = 5.0


class Server:
    """Serves AdmissionReviews under `PATH`."""

    def __init__(self, handler: Handler, context: ssl.SSLContext | None, address: Address) -> None:
        self._address = address
        self._context = context
        app = web.Application(client_max_size=_LARGEST_REVIEW)
        app.router.add_post(PATH, handler.handle)
        self._runner = web.AppRunner(
            app, access_log=None, keepalive_timeout=_KEEPALIVE, shutdown_timeout=address.finish, handle_signals=False
        )

    @property
    def port(self) -> int:
        """The port in use."""
        return int(self._runner.addresses[0][1])

    async def start(self) -> None:
        """Listen.

        Raises
        ------
        OSError
            The address is taken or not ours.
        """
        await self._runner.setup()
        site = web.TCPSite(
            self._runner, self._address.host, self._address.port, ssl_context=self._context, backlog=1024
        )
        await site.start()

    async def stop(self) -> None:
        """Serve on while callers learn to stay away, then finish what is under way and close."""
        await asyncio.sleep(self._address.drain)
        await self._runner.cleanup()
