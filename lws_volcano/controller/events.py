"""Writes Kubernetes Events, beside the work and never in its way: a full queue drops, a failed write is counted."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import structlog

from lws_volcano.api.errors import ClusterError
from lws_volcano.api.names import MANAGER
from lws_volcano.controller.correlator import Correlator, Remark, Saying
from lws_volcano.controller.leader_election import Alone, Leadership
from lws_volcano.kube import apply
from lws_volcano.kube.client import TIMEOUT, Client, Json
from lws_volcano.kube.clock import Clock
from lws_volcano.kube.errors import NotFound
from lws_volcano.kube.resources import EVENTS
from lws_volcano.observe import metrics

__all__ = ["Recorder"]

_log = structlog.get_logger(__name__)

WAITING: Final = 1000
"""Events that may wait to be written."""
_SHORTEST: Final = 0.001
"""Seconds; a lease that ends at this very moment leaves no time, and 0 would mean no limit."""
_MESSAGE: Final = 1024
"""Characters that the API allows."""


@dataclass
class Recorder:
    """Takes remarks at once, writes them as it can while `run` runs."""

    client: Client
    clock: Clock
    instance: str
    leadership: Leadership = field(default_factory=Alone)
    _correlator: Correlator = field(default_factory=Correlator)
    _queue: asyncio.Queue[Remark] = field(default_factory=lambda: asyncio.Queue(WAITING))

    def say(self, remark: Remark) -> None:
        """Take a remark; never waits."""
        try:
            self._queue.put_nowait(remark)
        except asyncio.QueueFull:
            metrics.EVENTS.labels("dropped").inc()

    async def run(self) -> None:
        """Write; ends only by being cancelled."""
        while True:
            remark = await self._queue.get()
            await self.write(remark)

    async def write(self, remark: Remark) -> None:
        """Create the Event, or count an earlier one up."""
        saying = self._correlator.say(remark, self.clock.monotonic())
        if saying is None or not self.leadership.may_write():
            metrics.EVENTS.labels("dropped").inc()
            return
        try:
            await self._write(saying)
        except ClusterError as error:
            self._correlator.lost(saying)
            metrics.EVENTS.labels("failed").inc()
            _log.warning("event not written", reason=remark.reason, about=remark.name, error=str(error))

    async def _write(self, saying: Saying) -> None:
        if saying.event:
            try:
                await self._count_up(saying)
            except NotFound:
                # Events are kept for an hour only.
                saying.event, saying.count = "", 1
            else:
                metrics.EVENTS.labels("counted").inc()
                return
        manifest = _manifest(saying, self.instance, self.clock.now(), self.clock.random())
        await self.client.create(EVENTS, manifest, within=self._within())
        saying.event = manifest["metadata"]["name"]
        metrics.EVENTS.labels("created").inc()

    async def _count_up(self, saying: Saying) -> None:
        patch = {
            "count": saying.count,
            "lastTimestamp": _stamp(self.clock.now()),
            "message": saying.remark.message[:_MESSAGE],
        }
        namespace = saying.remark.namespace or "default"
        await apply.merge(self.client, EVENTS, namespace, saying.event, patch, within=self._within())

    def _within(self) -> float:
        """Time limit of a write, in seconds: it must not outlast the lease."""
        return min(TIMEOUT, max(self.leadership.remaining(), _SHORTEST))


def _manifest(saying: Saying, instance: str, now: datetime, chance: float) -> Json:
    remark = saying.remark
    # The time and a random part, as client-go does it, keep the names of different writers apart.
    suffix = f"{int(now.timestamp() * 1e6):x}{int(chance * 0xFFFF):04x}"
    namespace = remark.namespace or "default"
    return {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.kind,
        "metadata": {"namespace": namespace, "name": f"{remark.name[:220]}.{suffix}"},
        "involvedObject": {
            "apiVersion": remark.api_version,
            "kind": remark.kind,
            "namespace": remark.namespace,
            "name": remark.name,
            "uid": remark.uid,
        },
        "reason": remark.reason,
        "message": remark.message[:_MESSAGE],
        "type": "Warning" if remark.warning else "Normal",
        "count": saying.count,
        "firstTimestamp": _stamp(now),
        "lastTimestamp": _stamp(now),
        "source": {"component": MANAGER, "host": instance},
        "reportingComponent": MANAGER,
        "reportingInstance": instance,
    }


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
