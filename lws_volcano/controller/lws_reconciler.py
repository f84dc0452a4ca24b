"""One pass over one LeaderWorkerSet: snapshot -> plan -> changes -> one status write -> Events.

The plan is made again after its changes, on the stores that know of them, until there is nothing left to do: so that a
raised minimum and the gates that it opens are one pass, and the status speaks of how things stand at the end.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog

from lws_volcano.api.errors import ClusterError
from lws_volcano.api.meta import Object
from lws_volcano.api.names import LWS_API, Reason
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.controller.correlator import Remark
from lws_volcano.controller.executor import Executor, NotLeadingError, ObserveAgainError, waves
from lws_volcano.controller.outcome import Failed, Ok, Outcome, RequeueAfter, Terminal
from lws_volcano.controller.status import News, StatusPacer, news, status_manifest
from lws_volcano.kube.clock import Clock
from lws_volcano.kube.errors import ApiError, Conflict, Forbidden, Invalid, NotFound
from lws_volcano.mapping.changes import (
    ApplyPodGroup,
    Change,
    DeletePodGroup,
    GangCondition,
    LwsPlan,
    Notice,
    Whereabouts,
)
from lws_volcano.mapping.clean_up import clean_up_orphans
from lws_volcano.mapping.network_topology import asks_for_tiers
from lws_volcano.mapping.snapshot import Snapshot
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import BY_LWS
from lws_volcano.state.snapshots import snapshot

__all__ = ["LwsReconciler"]

_log = structlog.get_logger(__name__)

ROUNDS: Final = 4
"""Plans in one pass: one that changes and one that finds no more to do are the rule, leader-first groups take three."""
OBSERVE_AGAIN: Final = 1.0
"""Seconds until a pass that met a change it had not seen looks again, should the watch stay silent."""
LARGE: Final = 200
"""Pods from which on a plan is made in a thread: it takes so long that admission would wait for it."""
SHARE: Final = 4.0
"""A set whose plan takes long is planned anew only after so many times as long, at most: others want their turn."""
REFUSED: Final = 5.0
"""Seconds at least between two tries of a write that the API server refuses."""
LOOK_FOR_TOPOLOGY: Final = 0.2
"""Seconds until a set that asks for tiers is looked at again while it is not known what they are."""
WAIT_FOR_TOPOLOGY: Final = 30.0
"""Seconds after which such a set is mapped without: a gang must not depend on a topology that never comes."""

UNPROCESSABLE: Final = 422

Plan = Callable[[Snapshot], LwsPlan]
Say = Callable[[Remark], None]


@dataclass
class LwsReconciler:
    """Passes over LeaderWorkerSets; `plan` is `mapping.plan.plan_lws`."""

    cluster: Cluster
    settings: Settings
    executor: Executor
    plan: Plan
    say: Say
    clock: Clock
    pacer: StatusPacer = field(default_factory=StatusPacer)
    rows: dict[str, Counter[Reason]] = field(default_factory=dict)
    """Groups by reason of every set that was looked at, for the metrics."""
    places: dict[str, list[Whereabouts]] = field(default_factory=dict)
    """Where the whole groups of every set sit, for the metrics."""
    _said: dict[str, frozenset[Notice]] = field(default_factory=dict)
    _unsaid: dict[str, dict[Notice, None]] = field(default_factory=dict)
    _made: dict[str, list[Change]] = field(default_factory=dict)
    _not_before: dict[str, float] = field(default_factory=dict)
    _held_since: dict[str, float] = field(default_factory=dict)

    async def reconcile(self, key: str) -> Outcome:
        """One pass over `namespace/name`."""
        early = self._not_before.get(key, 0.0) - self.clock.monotonic()
        if early > 0:
            return RequeueAfter(early)
        try:
            return await self._pass(key)
        except ObserveAgainError:
            return RequeueAfter(OBSERVE_AGAIN)
        except NotLeadingError:
            # Whoever leads next looks at every key.
            return Ok()
        except ClusterError as error:
            return Failed(error, _asked(error))

    async def _pass(self, key: str) -> Outcome:
        refused: ApiError | None = None
        plan = LwsPlan()
        for _ in range(ROUNDS):
            taken = snapshot(self.cluster, key, self.settings, self.clock.now())
            if taken is None:
                return await self._gone(key)
            if self._held(key, taken.lws):
                return RequeueAfter(LOOK_FOR_TOPOLOGY)
            plan = await self._planned(key, taken)
            self._collect(key, plan)
            if not plan.changes:
                break
            try:
                await self._make(key, plan.changes)
            except (Forbidden, Invalid) as error:
                refused = error
                break
        self.rows[key] = Counter(row.reason for row in plan.groups)
        self.places[key] = [row.where for row in plan.groups if row.where is not None]
        return await self._tell(key, plan, refused)

    def _held(self, key: str, lws: LeaderWorkerSet) -> bool:
        """Tiers are asked for, and are about to be known: what would be written and said now would be taken back."""
        if not (asks_for_tiers(lws) and self.cluster.topology_pending()):
            self._held_since.pop(key, None)
            return False
        now = self.clock.monotonic()
        return now - self._held_since.setdefault(key, now) < WAIT_FOR_TOPOLOGY

    async def _planned(self, key: str, taken: Snapshot) -> LwsPlan:
        """The plan; that of a large set is made beside the event loop."""
        if len(taken.pods) < LARGE:
            return self.plan(taken)
        started = self.clock.monotonic()
        plan = await asyncio.to_thread(self.plan, taken)
        now = self.clock.monotonic()
        self._not_before[key] = now + SHARE * (now - started)
        return plan

    async def _make(self, key: str, changes: tuple[Change, ...]) -> None:
        made = self._made.setdefault(key, [])
        for wave in waves(changes):
            await self.executor.make_all(wave, made)

    async def _tell(self, key: str, plan: LwsPlan, refused: ApiError | None) -> Outcome:
        """Status, then Events, then what comes next."""
        condition = plan.condition if refused is None else _refusal(refused)
        wait = await self._write_status(key, condition)
        if wait is None or self._only_words(key, condition):
            self._say_what_is_new(key, plan)
        if refused is not None:
            # What the schema refuses stays refused; an admission webhook (400, 403) may come to think otherwise.
            final = refused.status == UNPROCESSABLE and wait is None
            return Terminal(refused) if final else Failed(refused, REFUSED)
        pauses = [pause for pause in (wait, plan.recheck_after) if pause is not None]
        return RequeueAfter(min(pauses)) if pauses else Ok()

    async def _write_status(self, key: str, condition: GangCondition | None) -> float | None:
        """Bring the condition in step; seconds until it may be written, None when it is in step now."""
        lws = self.cluster.kinds.lws.store.get(key)
        manifest = None if lws is None else status_manifest(lws, condition, self.clock.now())
        if lws is None or manifest is None:
            self.pacer.in_step(key)
            return None
        wait = self.pacer.wait(key, self.clock.monotonic(), news=news(lws, condition))
        if wait > 0:
            return wait
        try:
            with self.pacer.writing(key, self.clock):
                await self.executor.write_status(manifest)
        except (NotFound, Conflict) as error:
            raise ObserveAgainError(str(error)) from error
        return None

    def _only_words(self, key: str, condition: GangCondition | None) -> bool:
        """The status says the same already, but for counts that may wait longer than an Event should."""
        lws = self.cluster.kinds.lws.store.get(key)
        return lws is not None and news(lws, condition) is News.WORDS

    def _collect(self, key: str, plan: LwsPlan) -> None:
        """Remember what is new among the notices; said is it once the status is in step."""
        known = self._said.get(key, frozenset())
        for notice in plan.notices:
            if notice not in known:
                self._unsaid.setdefault(key, {})[notice] = None

    def _say_what_is_new(self, key: str, plan: LwsPlan) -> None:
        lws = self.cluster.kinds.lws.store.get(key)
        for notice in (*_account(self._made.pop(key, [])), *self._unsaid.pop(key, {})):
            remark = self._remark(lws, notice) if lws is not None else None
            if remark is not None:
                self.say(remark)
        self._said[key] = frozenset(plan.notices)

    def _remark(self, lws: LeaderWorkerSet, notice: Notice) -> Remark | None:
        about: Object = lws
        api_version, kind = LWS_API, "LeaderWorkerSet"
        if notice.pod:
            pod = self.cluster.kinds.pods.store.get(f"{lws.namespace}/{notice.pod}")
            if pod is None:
                return None
            about, api_version, kind = pod, "v1", "Pod"
        return Remark(
            api_version=api_version,
            kind=kind,
            namespace=about.namespace,
            name=about.name,
            uid=about.uid,
            reason=str(notice.reason),
            message=notice.message,
            warning=notice.warning,
        )

    async def _gone(self, key: str) -> Outcome:
        """The set is gone: forget it; PodGroups that were orphaned go with their last pod."""
        self.pacer.forget(key)
        self.rows.pop(key, None)
        self.places.pop(key, None)
        self._said.pop(key, None)
        self._unsaid.pop(key, None)
        self._made.pop(key, None)
        self._not_before.pop(key, None)
        self._held_since.pop(key, None)
        kinds = self.cluster.kinds
        pods = kinds.pods.store.by(BY_LWS, key)
        left = kinds.pod_groups.store.by(BY_LWS, key)
        for change in clean_up_orphans(key.partition("/")[2], pods, left):
            await self.executor.make(change)
        return Ok()


def _account(made: list[Change]) -> list[Notice]:
    """What was done to PodGroups: one Event for each sort of change, however many there were."""
    named: Mapping[Reason, list[str]] = {
        Reason.PODGROUP_CREATED: [c.name for c in made if isinstance(c, ApplyPodGroup) and not c.uid],
        Reason.PODGROUP_UPDATED: [c.name for c in made if isinstance(c, ApplyPodGroup) and c.uid],
        Reason.PODGROUP_DELETED: [c.name for c in made if isinstance(c, DeletePodGroup)],
    }
    verbs = {
        Reason.PODGROUP_CREATED: "created",
        Reason.PODGROUP_UPDATED: "updated",
        Reason.PODGROUP_DELETED: "deleted",
    }
    return [
        Notice(reason=reason, message=f"{verbs[reason]} PodGroup {_some(names)}", warning=False)
        for reason, names in named.items()
        if names
    ]


def _some(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _refusal(error: ApiError) -> GangCondition:
    verdict = "not allowed" if isinstance(error, Forbidden) else "not accepted"
    return GangCondition(
        status=False, reason=Reason.WRITE_REFUSED, message=f"the API server says {verdict}: {error.message}"
    )


def _asked(error: ClusterError) -> float:
    return (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
