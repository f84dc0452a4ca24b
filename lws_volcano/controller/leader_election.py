"""Who may write: the holder of a Lease.

Judged by the local monotonic clock alone: a holder counts as gone when its Lease has not changed for the lease duration
*as we saw it*, and we count as gone a deadline after the start of our last successful renewal. A single call is limited
well below that deadline, so that one stalled call costs one retry and not the leadership. Losing means: write nothing
any more, and stand for election again. A clean stop gives the Lease back.

Source: client-go tools/leaderelection for the times and the record; kubernetes_asyncio's own is not used because its
leading task goes on after the lease is lost.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, Self

import structlog

from lws_volcano.api.errors import ClusterError
from lws_volcano.kube.client import Client, Json
from lws_volcano.kube.clock import Clock
from lws_volcano.kube.errors import Conflict, NotFound
from lws_volcano.kube.resources import LEASES
from lws_volcano.observe import metrics

__all__ = ["Alone", "ElectionTimes", "LeaderElector", "Leadership"]

_log = structlog.get_logger(__name__)


class Leadership(Protocol):
    """Whether this replica may write."""

    def may_write(self) -> bool:
        """Now."""
        ...

    def remaining(self) -> float:
        """For how many seconds from now, if nothing goes well."""
        ...


class Alone:
    """Leadership of the only replica there is."""

    def may_write(self) -> bool:
        """Always."""
        return True

    def remaining(self) -> float:
        """For ever."""
        return float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionTimes:
    """Seconds; lease > deadline > retry, and a call shorter than the deadline by at least one retry."""

    lease: float = 15.0
    deadline: float = 10.0
    retry: float = 2.0
    call: float = 4.0

    @classmethod
    def of(cls, lease: float) -> Self:
        """The usual proportions for a lease of so many seconds."""
        return cls(lease=lease, deadline=lease * 2 / 3, retry=lease * 2 / 15, call=lease * 4 / 15)

    def __post_init__(self) -> None:
        if not self.lease > self.deadline > self.retry + self.call:
            raise ValueError("leader election needs: lease > deadline > retry + call")


@dataclass
class LeaderElector:
    """Stands for election for as long as `run` runs.

    Parameters
    ----------
    on_change
        Told of every gain (True) and loss (False), at once.
    """

    client: Client
    clock: Clock
    identity: str
    namespace: str
    name: str
    on_change: Callable[[bool], None]
    times: ElectionTimes = field(default_factory=ElectionTimes)
    leading: bool = False
    _renewed: float = float("-inf")
    _trouble: str = ""
    """What was said last about a Lease that could not be reached: every two seconds the same is noise."""
    _observed: tuple[str, str, float] = ("", "", float("-inf"))
    """Holder and version of the Lease, and when we first saw it so."""

    def may_write(self) -> bool:
        """We lead, and our last renewal is not older than the deadline."""
        return self.leading and self.remaining() > 0

    def remaining(self) -> float:
        """Seconds until we must have renewed."""
        return self._renewed + self.times.deadline - self.clock.monotonic()

    async def run(self) -> None:
        """Contend, renew, contend again; ends only by being cancelled, and then gives the Lease back."""
        async with asyncio.TaskGroup() as tasks:
            watchdog = tasks.create_task(self._watchdog(), name="election-watchdog")
            try:
                while True:
                    await self._attempt()
                    await self.clock.sleep(self._pause())
            finally:
                watchdog.cancel()
                await self._release()

    async def _watchdog(self) -> None:
        """Ends the leadership on time even while a call hangs."""
        while True:
            if self.leading and self.remaining() <= 0:
                self._set(leading=False, why="not renewed in time")
            await self.clock.sleep(max(min(self.remaining(), self.times.retry), 0.05) if self.leading else 0.5)

    def _pause(self) -> float:
        # Replicas that stand by must not all come at the same moment.
        return self.times.retry if self.leading else self.times.retry * (1 + 0.2 * self.clock.random())

    async def _attempt(self) -> None:
        started = self.clock.monotonic()
        try:
            won = await self._try(started)
        except Conflict as error:
            # Written since we read it, perhaps by an earlier call of our own that we took for lost: read it again.
            _log.info("lease changed meanwhile", lease=self.name, error=str(error))
            return
        except ClusterError as error:
            if str(error) != self._trouble:
                _log.warning("lease not reached, trying again", lease=self.name, error=str(error))
            self._trouble = str(error)
            return
        self._trouble = ""
        if won:
            self._renewed = started
        if won != self.leading:
            self._set(leading=won, why="lease acquired" if won else "lease held by somebody else")

    def _set(self, *, leading: bool, why: str) -> None:
        self.leading = leading
        metrics.LEADER.set(leading)
        _log.info("leading" if leading else "not leading", identity=self.identity, why=why)
        self.on_change(leading)

    async def _try(self, started: float) -> bool:
        """Acquire or renew; whether the Lease is ours now."""
        try:
            lease = await self.client.get(LEASES, self.namespace, self.name, within=self.times.call)
        except NotFound:
            await self.client.create(LEASES, self._new(), within=self.times.call)
            return True
        spec: dict[str, Any] = lease.get("spec") or {}
        holder = spec.get("holderIdentity") or ""
        self._observe(holder, str(lease["metadata"].get("resourceVersion")), started)
        if holder and holder != self.identity and not self._expired(spec):
            return False
        await self.client.replace(LEASES, self._claimed(lease, spec, holder), within=self.times.call)
        return True

    def _observe(self, holder: str, version: str, now: float) -> None:
        if (holder, version) != self._observed[:2]:
            self._observed = (holder, version, now)

    def _expired(self, spec: dict[str, Any]) -> bool:
        duration = float(spec.get("leaseDurationSeconds") or self.times.lease)
        return self.clock.monotonic() - self._observed[2] > duration

    def _new(self) -> Json:
        spec = self._record(acquired=_stamp(self.clock.now()), transitions=0)
        metadata = {"namespace": self.namespace, "name": self.name}
        return {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}

    def _claimed(self, lease: Json, spec: dict[str, Any], holder: str) -> Json:
        ours = holder == self.identity
        acquired = spec.get("acquireTime") if ours else None
        transitions = int(spec.get("leaseTransitions") or 0) + (not ours)
        record = self._record(acquired=acquired or _stamp(self.clock.now()), transitions=transitions)
        return {**lease, "spec": {**spec, **record}}

    def _record(self, *, acquired: str, transitions: int) -> Json:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self.times.lease),
            "acquireTime": acquired,
            "renewTime": _stamp(self.clock.now()),
            "leaseTransitions": transitions,
        }

    async def _release(self) -> None:
        if not self.leading:
            return
        self._set(leading=False, why="stopping")
        try:
            lease = await self.client.get(LEASES, self.namespace, self.name, within=1.0)
            spec = lease.get("spec") or {}
            if spec.get("holderIdentity") == self.identity:
                freed = {**spec, "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _stamp(self.clock.now())}
                await self.client.replace(LEASES, {**lease, "spec": freed}, within=1.0)
        except ClusterError as error:
            _log.warning("lease not given back, it runs out by itself", error=str(error))


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
