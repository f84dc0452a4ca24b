"""Leader election between replicas over one Lease, on a clock that is moved by hand.

Covers: three ways to lose a lease that operators have met (a stalled call, an election that runs once, an outage),
clean stop, kill, and that nobody may write after his lease. Leaves out: the HTTP of it, but for one round at the end.
"""

import asyncio
import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from lws_volcano.controller.leader_election import ElectionTimes, LeaderElector
from lws_volcano.kube.client import Client
from lws_volcano.kube.errors import AlreadyExists, Conflict, NotFound, Unavailable
from lws_volcano.kube.resources import LEASES, Resource
from tests.contract.api_server import ApiServer
from tests.contract.clocks import ManualClock, QuickClock

Json = dict[str, Any]


@dataclass
class Leases:
    """One Lease, and how its server behaves; a client for all replicas."""

    clock: ManualClock
    lease: Json | None = None
    away: bool = False
    hang: dict[str, float] = field(default_factory=dict)
    """Method -> seconds that its next call takes (the write is made all the same)."""
    version: int = 0

    async def get(self, _: Resource, __: str, ___: str, *, within: float) -> Json:
        """Read the Lease."""
        await self._reach("get", within)
        if self.lease is None:
            raise NotFound(404, "NotFound")
        return copy.deepcopy(self.lease)

    async def create(self, _: Resource, manifest: Json, *, within: float) -> Json:
        """Make it, once."""
        await self._reach("create", within)
        if self.lease is not None:
            raise AlreadyExists(409, "AlreadyExists")
        return self._store(manifest)

    async def replace(self, _: Resource, manifest: Json, *, within: float) -> Json:
        """Write it, if it is still as it was read."""
        if self.hang.get("replace", 0.0) > within and self.lease is not None:
            self._store(manifest)
        await self._reach("replace", within)
        if self.lease is None or manifest["metadata"]["resourceVersion"] != str(self.version):
            raise Conflict(409, "Conflict")
        return self._store(manifest)

    @property
    def holder(self) -> str:
        """Who holds it, by its record."""
        return "" if self.lease is None else self.lease["spec"]["holderIdentity"]

    def _store(self, manifest: Json) -> Json:
        self.version += 1
        self.lease = copy.deepcopy(manifest)
        self.lease["metadata"]["resourceVersion"] = str(self.version)
        return copy.deepcopy(self.lease)

    async def _reach(self, method: str, within: float) -> None:
        if self.away:
            raise Unavailable("connection refused")
        seconds = self.hang.pop(method, 0.0)
        if seconds:
            await self.clock.sleep(min(seconds, within))
        if seconds > within:
            raise Unavailable("timed out")


class Replicas:
    """Electors `a`, `b`, ... and a record of who could write at every moment."""

    def __init__(self, count: int = 2) -> None:
        self.clock = ManualClock()
        self.leases = Leases(self.clock)
        self.electors = [self._elector(name) for name in "abcdef"[:count]]
        self.tasks = {elector.identity: asyncio.create_task(elector.run()) for elector in self.electors}
        self.changes: list[tuple[str, bool]] = []

    def _elector(self, name: str) -> LeaderElector:
        return LeaderElector(
            client=self.leases,  # type: ignore[arg-type]
            clock=self.clock,
            identity=name,
            namespace="ns",
            name="lease",
            on_change=lambda leading: self.changes.append((name, leading)),
        )

    async def run(self, seconds: float) -> None:
        """Let time pass in small steps; never may two write, nor one whose lease has run out."""
        for _ in range(int(seconds * 4)):
            await self.clock.run(0.25)
            assert len(self.writers()) <= 1

    def writers(self) -> list[str]:
        """Who may write now."""
        return [elector.identity for elector in self.electors if elector.may_write()]

    async def stop(self, name: str) -> None:
        """SIGTERM."""
        self.tasks[name].cancel()
        await self.clock.run(0.1)

    def kill(self, name: str) -> None:
        """SIGKILL: gone without a word."""
        elector = next(elector for elector in self.electors if elector.identity == name)
        self.electors.remove(elector)
        elector.leading = False
        self.tasks[name].cancel()

    async def end(self) -> None:
        """Stop all."""
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


async def test_one_of_two_leads_and_the_other_stands_by() -> None:
    """Both contend; one writes."""
    replicas = Replicas()
    await replicas.run(30)
    assert replicas.writers() == [replicas.leases.holder]
    assert replicas.changes == [(replicas.leases.holder, True)]
    await replicas.end()


@pytest.mark.parametrize("method", ["get", "replace"])
async def test_one_stalled_call_is_no_abdication(method: str) -> None:
    """A renewal that hangs for 8 s, done in the end or not, changes nothing."""
    replicas = Replicas()
    await replicas.run(5)
    leader = replicas.writers()
    replicas.leases.hang[method] = 8.0
    for _ in range(40):
        await replicas.run(0.5)
        assert replicas.writers() == leader
    assert len(replicas.changes) == 1
    await replicas.end()


async def test_an_outage_ends_writing_and_not_the_candidacy() -> None:
    """20 s without an API server, five times: nobody writes after the deadline, and afterwards exactly one leads."""
    replicas = Replicas()
    await replicas.run(5)
    for _ in range(5):
        assert len(replicas.writers()) == 1
        replicas.leases.away = True
        await replicas.run(11)
        assert replicas.writers() == []
        await replicas.run(9)
        replicas.leases.away = False
        await replicas.run(20)
    assert len(replicas.writers()) == 1
    assert all(not task.done() for task in replicas.tasks.values())
    await replicas.end()


async def test_a_clean_stop_hands_over_within_seconds() -> None:
    """The Lease is given back, the standby takes it at its next look."""
    replicas = Replicas()
    await replicas.run(5)
    (leader,) = replicas.writers()
    await replicas.stop(leader)
    assert replicas.leases.holder == ""
    await replicas.run(3)
    assert replicas.writers() == [replicas.leases.holder] != [leader]
    await replicas.end()


async def test_a_kill_is_taken_over_after_the_lease() -> None:
    """Not before the lease duration has passed, and within one retry after it."""
    replicas = Replicas()
    await replicas.run(5)
    (leader,) = replicas.writers()
    replicas.kill(leader)
    await replicas.run(12)
    assert replicas.writers() == []
    await replicas.run(8)
    assert replicas.writers() == [replicas.leases.holder] != [leader]
    await replicas.end()


async def test_a_leader_that_is_overtaken_stops_at_once() -> None:
    """Somebody edits the Lease by hand: seen at the next renewal, and contended for again."""
    replicas = Replicas(count=1)
    await replicas.run(5)
    assert replicas.writers() == ["a"]
    assert replicas.leases.lease is not None
    replicas.leases.lease["spec"]["holderIdentity"] = "somebody"
    replicas.leases.version += 1
    replicas.leases.lease["metadata"]["resourceVersion"] = str(replicas.leases.version)
    await replicas.run(3)
    assert replicas.writers() == []
    await replicas.run(20)
    assert replicas.writers() == ["a"]
    await replicas.end()


@pytest.mark.parametrize("times", [{"lease": 9.0}, {"deadline": 5.0}, {"call": 9.0}])
def test_times_that_cannot_work_are_refused(times: dict[str, float]) -> None:
    """A single call must fit into the deadline, and the deadline into the lease."""
    with pytest.raises(ValueError, match="lease > deadline"):
        ElectionTimes(**times)


async def test_lease_on_the_wire(server: ApiServer, client: Client) -> None:
    """Made, renewed with its own version, and given back."""
    gained = asyncio.Event()
    elector = LeaderElector(
        client=client,
        clock=QuickClock(factor=20),
        identity="me",
        namespace="ns",
        name="lease",
        on_change=lambda leading: gained.set() if leading else None,
    )
    task = asyncio.create_task(elector.run())
    async with asyncio.timeout(10):
        await gained.wait()
        while sum(asked.method == "PUT" for asked in server.asked) < 2:
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    lease = server.get(LEASES, "ns", "lease")
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == ""
    assert lease["spec"]["renewTime"].endswith("Z")
