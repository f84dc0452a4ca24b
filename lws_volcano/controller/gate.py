"""When the workers may work: this replica leads, the caches are filled, and what Volcano can do is known."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from lws_volcano.kube.clock import Clock
from lws_volcano.state.cluster import Cluster

__all__ = ["Gate"]

_log = structlog.get_logger(__name__)

REMIND: Final = 30.0
"""Seconds between two lines that say what is being waited for."""


class Gate:
    """Opens and closes `open`; `on_open` is called at every opening, to look at every key again."""

    def __init__(self, cluster: Cluster, on_open: Callable[[], None]) -> None:
        self.open = asyncio.Event()
        self._cluster = cluster
        self._on_open = on_open
        self._leading = False
        self._informed = False
        cluster.on_readiness(self.check)

    def lead(self, leading: bool) -> None:
        """The leadership has changed."""
        self._leading = leading
        self.check()

    def informed(self) -> None:
        """It is known what the installed Volcano can do."""
        self._informed = True
        self.check()

    def check(self) -> None:
        """Open or close, as things stand."""
        wanted = self._leading and self._informed and self._cluster.ready
        if wanted and not self.open.is_set():
            self.open.set()
            _log.info("working", leaderworkersets=len(self._cluster.kinds.lws.store))
            self._on_open()
        elif not wanted and self.open.is_set():
            self.open.clear()
            _log.info("not working", waiting_for=self._cluster.waiting_for() or "the leadership")

    async def remind(self, clock: Clock) -> None:
        """Say from time to time what is missing; ends only by being cancelled."""
        while True:
            await clock.sleep(REMIND)
            waiting_for = self._cluster.waiting_for()
            if waiting_for:
                _log.warning("cannot work yet", waiting_for=waiting_for)
