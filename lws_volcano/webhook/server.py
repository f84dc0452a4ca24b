"""The HTTPS server of the webhook, on every replica."""

import asyncio
import ssl

from aiohttp import web

from lws_volcano.observe.address import Address
from lws_volcano.webhook.configuration import PATH
from lws_volcano.webhook.handler import Handler

__all__ = ["Server"]

_LARGEST_REVIEW = 8 * 2**20
"""Bytes. etcd holds 1.5 MiB an object; a review carries it twice at most, and JSON is longer than the stored form."""
_KEEPALIVE = 150.0
"""Seconds. Longer than the 90 after which API servers drop idle connections: the one who calls closes first, so no
request runs into a connection that is just being closed."""


class Server:
    """Serves AdmissionReviews under `PATH`.

    Parameters
    ----------
    drain
        Seconds between the call of `stop` and the end of listening, while endpoints learn that we are going.
    finish
        Seconds given to the requests that are still under way after that.
    """

    def __init__(
        self,
        handler: Handler,
        context: ssl.SSLContext | None,
        address: Address,
        *,
        drain: float,
        finish: float,
    ) -> None:
        self._address, self._drain = address, drain
        self._context = context
        app = web.Application(client_max_size=_LARGEST_REVIEW)
        app.router.add_post(PATH, handler.handle)
        self._runner = web.AppRunner(
            app, access_log=None, keepalive_timeout=_KEEPALIVE, shutdown_timeout=finish, handle_signals=False
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
        await asyncio.sleep(self._drain)
        await self._runner.cleanup()
