"""One pass: rounds of planning, one status write, Events when it has succeeded.

Covers: order and conditions of what a pass tells, refusals, large sets. Leaves out: the plan itself
(tests/unit/mapping), requests (test_executor).
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest

from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.controller.correlator import Remark
from lws_volcano.controller.executor import Executor
from lws_volcano.controller.leader_election import Alone
from lws_volcano.controller.lws_reconciler import LARGE, WAIT_FOR_TOPOLOGY, LwsReconciler
from lws_volcano.controller.outcome import Failed, Ok, Outcome, RequeueAfter, Terminal
from lws_volcano.kube.client import Client
from lws_volcano.kube.resources import LEADER_WORKER_SETS
from lws_volcano.mapping.changes import ApplyPodGroup, GangCondition, LwsPlan, Notice
from lws_volcano.mapping.snapshot import Snapshot
from lws_volcano.state.cluster import Cluster
from tests.contract import manifests
from tests.contract.api_server import ApiServer, refused
from tests.contract.clocks import ManualClock
from tests.unit.controller.test_executor import applied

WAITING = GangCondition(status=False, reason=Reason.WAITING_FOR_CAPACITY, message="waiting")
NOTICE = Notice(reason=Reason.INVALID_ANNOTATION, message="bad value")
KEY = "default/demo"

Plans = Callable[[Snapshot], LwsPlan]


@dataclass
class Bench:
    """A reconciler whose plans the test decides, and what it said."""

    server: ApiServer
    client: Client
    clock: ManualClock = field(default_factory=ManualClock)
    cluster: Cluster = field(default_factory=Cluster)
    said: list[Remark] = field(default_factory=list)

    def __post_init__(self) -> None:
        found = self.server.put(LEADER_WORKER_SETS, manifests.lws("demo"))
        lws, version = self.cluster.kinds.lws, int(found["metadata"]["resourceVersion"])
        lws.store.replace([(lws.parse(found), version)], version)

    def ask_for(self, tier: str) -> None:
        """The set names a tier."""
        lws = self.cluster.kinds.lws
        found = self.server.get(LEADER_WORKER_SETS, "default", "demo")
        assert found is not None
        found["metadata"]["annotations"]["volcano.sh/network-topology-highest-tier"] = tier
        lws.store.replace([(lws.parse(found), 2)], 2)

    def reconciler(self, *plans: LwsPlan) -> LwsReconciler:
        """One that is given these plans in turn, the last one for ever."""
        left = list(plans)
        executor = Executor(self.client, self.cluster, Alone())
        plan: Plans = lambda _: left.pop(0) if len(left) > 1 else left[0]  # noqa: E731
        return LwsReconciler(self.cluster, Settings(), executor, plan, self.said.append, self.clock)

    async def settle(self, reconciler: LwsReconciler) -> Outcome:
        """Pass after pass, as long as one asks for another soon."""
        outcome = await reconciler.reconcile(KEY)
        while isinstance(outcome, RequeueAfter):
            await self.clock.run(outcome.seconds)
            outcome = await reconciler.reconcile(KEY)
        return outcome

    def status_writes(self) -> int:
        """Writes to the status sub-resource."""
        return sum(asked.path.endswith("/status") for asked in self.server.writes())


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A bench with one set."""
    async with ApiServer() as server, Client.at(server.url) as client:
        yield Bench(server, client)


async def test_events_come_after_the_status_and_once(bench: Bench) -> None:
    """A notice that lasts is said when it is new, and again only after it has been away."""
    reconciler = bench.reconciler(LwsPlan(condition=WAITING, notices=(NOTICE,)))
    first = await reconciler.reconcile(KEY)
    assert isinstance(first, RequeueAfter)
    assert bench.said == []
    assert isinstance(await bench.settle(reconciler), Ok)
    assert [remark.reason for remark in bench.said] == ["InvalidAnnotation"]
    await bench.settle(reconciler)
    assert len(bench.said) == bench.status_writes() == 1


async def test_without_the_status_no_event(bench: Bench) -> None:
    """A status that cannot be written leaves the Event unsaid, not forgotten."""
    bench.server.fail("PATCH", "leaderworkersets", refused(500, "InternalError"))
    reconciler = bench.reconciler(LwsPlan(condition=WAITING, notices=(NOTICE,)))
    assert isinstance(await bench.settle(reconciler), Failed)
    assert bench.said == []
    assert isinstance(await bench.settle(reconciler), Ok)
    assert len(bench.said) == 1


async def test_changes_are_made_until_there_are_none_and_told_in_one_event(bench: Bench) -> None:
    """Two rounds of changes, one Event for both, one status."""
    reconciler = bench.reconciler(
        LwsPlan(changes=(applied("a"),), condition=WAITING),
        LwsPlan(changes=(applied("b"), applied("c")), condition=WAITING),
        LwsPlan(condition=WAITING),
    )
    assert isinstance(await bench.settle(reconciler), Ok)
    (remark,) = bench.said
    assert (remark.reason, remark.message) == ("PodGroupCreated", "created PodGroup a, b, c")
    assert bench.status_writes() == 1


async def test_a_plan_that_never_settles_is_no_endless_pass(bench: Bench) -> None:
    """Changes that lead to changes end the pass after a few rounds."""
    await bench.reconciler(LwsPlan(changes=(applied("a"),))).reconcile(KEY)
    assert len(bench.server.writes()) < 6


@pytest.mark.parametrize(("status", "reason", "kind"), [(422, "Invalid", Terminal), (403, "Forbidden", Failed)])
async def test_a_refusal_is_told_in_the_condition(bench: Bench, status: int, reason: str, kind: type[Outcome]) -> None:
    """What the schema refuses is final until something changes, a webhook's or a role's no is tried again."""
    bench.server.fail("PATCH", "podgroups", *[refused(status, reason, "because")] * 9)
    reconciler = bench.reconciler(LwsPlan(changes=(applied("a"),), condition=WAITING))
    await reconciler.reconcile(KEY)
    await bench.clock.run(5)
    assert isinstance(await reconciler.reconcile(KEY), kind)
    found = bench.server.get(LEADER_WORKER_SETS, "default", "demo")
    assert found is not None
    (condition,) = found["status"]["conditions"]
    assert condition["reason"] == "WriteRefused"
    assert "because" in condition["message"]


async def test_what_was_overtaken_is_looked_at_again(bench: Bench) -> None:
    """A conflict is no failure: no back-off grows, the next pass sees what is there."""
    gone = ApplyPodGroup(namespace="default", name="a", manifest=applied("a").manifest, why="", uid="gone")
    assert isinstance(await bench.reconciler(LwsPlan(changes=(gone,))).reconcile(KEY), RequeueAfter)


async def test_time_alone_brings_a_set_back_where_the_plan_says_so(bench: Bench) -> None:
    """`recheck_after` is when the next pass comes."""
    assert await bench.reconciler(LwsPlan(recheck_after=42.0)).reconcile(KEY) == RequeueAfter(42.0)


async def test_a_large_set_is_planned_beside_the_loop_and_not_all_the_time(bench: Bench) -> None:
    """Its plan takes time; the next one is made after a pause, and nothing is lost by it."""
    pods = bench.cluster.kinds.pods
    pods.store.replace([(pods.parse(manifests.pod("demo", worker=n)), n) for n in range(LARGE)], 1000)
    made: list[float] = []

    def slow(_: Snapshot) -> LwsPlan:
        bench.clock.skip(0.2)
        made.append(bench.clock.monotonic())
        return LwsPlan()

    reconciler = bench.reconciler(LwsPlan())
    reconciler.plan = slow
    assert isinstance(await reconciler.reconcile(KEY), Ok)
    early = await reconciler.reconcile(KEY)
    assert isinstance(early, RequeueAfter)
    assert len(made) == 1
    await bench.clock.run(early.seconds)
    assert isinstance(await reconciler.reconcile(KEY), Ok)
    assert len(made) == 2


async def test_a_set_that_asks_for_tiers_waits_until_they_are_known(bench: Bench) -> None:
    """Nothing is written or said that would be taken back a moment later."""
    bench.ask_for("rack")
    pending = [True]
    bench.cluster.topology_pending = lambda: pending[0]
    reconciler = bench.reconciler(LwsPlan(changes=(applied("a"),), condition=WAITING), LwsPlan(condition=WAITING))
    assert isinstance(await reconciler.reconcile(KEY), RequeueAfter)
    assert bench.server.writes() == []
    pending[0] = False
    assert isinstance(await bench.settle(reconciler), Ok)
    assert len(bench.server.writes()) == 2


async def test_a_topology_that_never_comes_holds_nobody_for_ever(bench: Bench) -> None:
    """After a while the set is mapped without, and what is wrong with it is said."""
    bench.ask_for("rack")
    bench.cluster.topology_pending = lambda: True
    reconciler = bench.reconciler(LwsPlan(condition=WAITING))
    assert isinstance(await reconciler.reconcile(KEY), RequeueAfter)
    bench.clock.skip(WAIT_FOR_TOPOLOGY)
    assert isinstance(await bench.settle(reconciler), Ok)
    assert bench.status_writes() == 1


async def test_a_set_that_asks_for_no_tier_waits_for_no_topology(bench: Bench) -> None:
    """Its gang does not depend on it."""
    bench.cluster.topology_pending = lambda: True
    await bench.reconciler(LwsPlan(changes=(applied("a"),)), LwsPlan()).reconcile(KEY)
    assert len(bench.server.writes()) == 1


async def test_a_set_that_is_gone_is_forgotten(bench: Bench) -> None:
    """Nothing of it stays in memory."""
    reconciler = bench.reconciler(LwsPlan(condition=WAITING, notices=(NOTICE,)))
    await bench.settle(reconciler)
    assert KEY in reconciler.rows
    bench.cluster.kinds.lws.store.replace([], 2000)
    assert isinstance(await reconciler.reconcile(KEY), Ok)
    assert reconciler.rows == {}
