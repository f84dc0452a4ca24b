"""What health and metrics look at."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lws_volcano.api.names import Reason
from lws_volcano.controller.options import Serving
from lws_volcano.kube.clock import Clock
from lws_volcano.mapping.changes import Whereabouts
from lws_volcano.observe import metrics
from lws_volcano.observe.health import Health
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.reflector import Reflector

__all__ = ["VitalSigns"]

STALE: Final = 180.0
"""Seconds without a sign of life of a watch (bookmarks come every minute) after which a replica is not ready."""
HUNG: Final = 900.0
"""Seconds without an attempt (a request, a retry) after which a watch is taken to hang; a watch lasts 600 at most."""


@dataclass
class VitalSigns:
    """Checks over the parts of a replica."""

    cluster: Cluster
    reflectors: Sequence[Reflector]
    services: Mapping[str, Serving]
    rows: Mapping[str, Counter[Reason]]
    places: Mapping[str, Sequence[Whereabouts]]
    waiting: Callable[[], int]
    clock: Clock

    def health(self) -> Health:
        """The checks, by name."""
        ready = {"caches": self._caches, **{name: service.unready for name, service in self.services.items()}}
        return Health(live={"reflectors": self._hung}, ready=ready, before_metrics=[self._refresh])

    def _caches(self) -> str:
        waiting_for = self.cluster.waiting_for()
        if waiting_for:
            return "waiting for " + "; ".join(waiting_for)
        stale = [r.kind.name for r in self._needed() if self._age(r) > STALE]
        return f"no sign of life for {STALE:g} s: {', '.join(stale)}" if stale else ""

    def _hung(self) -> str:
        hung = [r.kind.name for r in self.reflectors if self.clock.monotonic() - r.attempt > HUNG]
        return f"not a single attempt for {HUNG:g} s: {', '.join(hung)}" if hung else ""

    def _needed(self) -> list[Reflector]:
        return [r for r in self.reflectors if r.progress is not None and not r.kind.store.missing]

    def _age(self, reflector: Reflector) -> float:
        return self.clock.monotonic() - (reflector.progress or 0.0)

    def _refresh(self) -> None:
        for reflector in self._needed():
            metrics.CACHE_AGE.labels(reflector.kind.name).set(self._age(reflector))
        metrics.QUEUE_DEPTH.set(self.waiting())
        metrics.LWS.set(len(self.cluster.kinds.lws.store))
        metrics.GROUPS.clear()
        for reason, count in sum(self.rows.values(), Counter[Reason]()).items():
            metrics.GROUPS.labels(reason.value).set(count)
        self._quality([one for places in self.places.values() for one in places])

    @staticmethod
    def _quality(places: Sequence[Whereabouts]) -> None:
        metrics.GROUP_TIERS.clear()
        for tier, count in Counter(one.tier for one in places).items():
            metrics.GROUP_TIERS.labels(str(tier)).set(count)
        metrics.GROUP_HINTS.clear()
        for followed, count in Counter(one.followed for one in places if one.followed is not None).items():
            metrics.GROUP_HINTS.labels("yes" if followed else "no").set(count)
        costs = [(one.ring_cost, one.planned_cost) for one in places if one.planned_cost]
        planned = sum(cost for _, cost in costs if cost is not None)
        metrics.RING_COST.set(sum(cost for cost, _ in costs) / planned if planned else 1.0)
