"""After an outage everybody comes back soon, and only after an outage.

Covers: the wait of a watch cut short by the end of an outage, a server that fails now and then, what the server asked
for. Leaves out: the keys of the work queue (tests/unit/controller), a real API server that is away (tests/integration).
"""

import asyncio

from lws_volcano.kube.backoff import Backoff
from lws_volcano.kube.outage import Outage
from tests.contract.clocks import ManualClock


async def waited(
    clock: ManualClock, backoff: Backoff, outage: Outage, *, at: float, asked: float | None = None
) -> float:
    """Seconds of the third wait of a back-off (3.2 to 6.4 s by itself) when the server answers at `at` seconds."""
    backoff.seconds()
    backoff.seconds()
    started = clock.monotonic()
    ended: list[float] = []

    async def wait() -> None:
        await backoff.wait(asked)
        ended.append(clock.monotonic() - started)

    waiting = asyncio.create_task(wait())
    await clock.run(at)
    outage.answered()
    await clock.run(60)
    await waiting
    return ended[0]


async def test_the_end_of_an_outage_ends_the_wait() -> None:
    """The first success of anybody wakes all, and their next wait is short again."""
    clock = ManualClock()
    outage = Outage(clock)
    backoff = Backoff(clock, outage=outage)
    outage.failed()
    assert await waited(clock, backoff, outage, at=2.5) == 2.5
    assert backoff.seconds() == 0.8


async def test_many_come_back_spread_out() -> None:
    """Not all in the same moment."""
    clock = ManualClock(chance=0.5)
    outage = Outage(clock)
    outage.failed()
    assert await waited(clock, Backoff(clock, outage=outage), outage, at=2.5) == 2.5 + 0.4


async def test_a_server_that_fails_now_and_then_cuts_nothing_short() -> None:
    """Successes between the failures are no end of an outage: the back-off holds."""
    clock = ManualClock()
    outage = Outage(clock)
    outage.failed()
    assert await waited(clock, Backoff(clock, outage=outage), outage, at=1.0) == 3.2


async def test_nobody_comes_sooner_than_the_server_asked_for() -> None:
    """Retry-After counts, outage or not."""
    clock = ManualClock()
    outage = Outage(clock)
    outage.failed()
    assert await waited(clock, Backoff(clock, outage=outage), outage, at=2.0, asked=3.0) == 3.0
