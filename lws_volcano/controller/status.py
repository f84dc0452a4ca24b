"""Our condition in the LeaderWorkerSet status: what it should read, and when it may be written.

It is written only when it differs, and not for every state that a starting group passes through: a change waits a
moment for the next one, and two writes to one set keep a distance.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any

from lws_volcano.api.meta import Condition
from lws_volcano.api.names import GANG_SCHEDULED, LWS_API
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.kube.client import Json
from lws_volcano.kube.clock import Clock
from lws_volcano.mapping.changes import GangCondition

__all__ = ["News", "StatusPacer", "news", "status_manifest"]

_LONGEST = 32768
"""Characters that the API allows in a message."""


def status_manifest(lws: LeaderWorkerSet, wanted: GangCondition | None, now: datetime) -> Json | None:
    """What to apply to the status sub-resource, None when it already reads so.

    Without a wanted condition ours is removed by applying a status that does not name it.
    """
    found = next((condition for condition in lws.status.conditions if condition.type == GANG_SCHEDULED), None)
    if wanted is None:
        return None if found is None else _manifest(lws, [])
    entry = _entry(lws, wanted, found, now)
    return None if found is not None and _reads(found, entry) else _manifest(lws, [entry])


class News(Enum):
    """How much of a difference there is, the greatest first."""

    VERDICT = auto()
    """Somebody who waits for the condition is told something new."""
    REASON = auto()
    """Another reason, or that of another generation."""
    WORDS = auto()
    """The same, told with other counts."""


def news(lws: LeaderWorkerSet, wanted: GangCondition | None) -> News:
    """What a wanted condition says beyond the one that is there."""
    found = next((condition for condition in lws.status.conditions if condition.type == GANG_SCHEDULED), None)
    if (found is not None and found.status == "True") != (wanted is not None and wanted.status):
        return News.VERDICT
    there = (found.reason, found.observed_generation) if found else ()
    asked = (str(wanted.reason), lws.metadata.generation) if wanted else ()
    return News.REASON if there != asked else News.WORDS


def _manifest(lws: LeaderWorkerSet, conditions: list[Json]) -> Json:
    metadata = {"namespace": lws.namespace, "name": lws.name, "uid": lws.uid}
    status = {"conditions": conditions} if conditions else {}
    return {"apiVersion": LWS_API, "kind": "LeaderWorkerSet", "metadata": metadata, "status": status}


def _entry(lws: LeaderWorkerSet, wanted: GangCondition, found: Condition | None, now: datetime) -> Json:
    status = "True" if wanted.status else "False"
    since = found.last_transition_time if found is not None and found.status == status else None
    return {
        "type": GANG_SCHEDULED,
        "status": status,
        "reason": str(wanted.reason),
        "message": wanted.message[:_LONGEST],
        "observedGeneration": lws.metadata.generation,
        "lastTransitionTime": (since or now).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _reads(found: Condition, entry: dict[str, Any]) -> bool:
    return (found.status, found.reason, found.message, found.observed_generation) == (
        entry["status"],
        entry["reason"],
        entry["message"],
        entry["observedGeneration"],
    )


_PER_LOOK = 10
"""Status writes that an API server is likely to take in `busy` seconds."""


@dataclass
class StatusPacer:
    """When a set's status may be written; seconds of the monotonic clock."""

    settle: float = 0.5
    """From the first difference to the write: what follows at once goes into the same write."""
    linger: float = 3.0
    """The same where True stays True or False stays False: a starting group passes through many such states."""
    recount: float = 10.0
    """The same where the reason stays as well: groups that come up one after the other are counted anew that often."""
    interval: float = 1.0
    """Between two writes to one set."""
    abreast: int = 2
    """Status writes under way at a time: workers are for PodGroups first."""
    busy: float = 0.2
    """Seconds until a write that found no place is tried again."""
    _under_way: int = 0
    _since: dict[str, float] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)

    def wait(self, key: str, now: float, *, news: News = News.VERDICT) -> float:
        """Seconds until the difference that is seen now may be written; 0 or less: write."""
        since = self._since.setdefault(key, now)
        due = since + {News.VERDICT: self.settle, News.REASON: self.linger, News.WORDS: self.recount}[news]
        wait = max(due, self._last.get(key, float("-inf")) + self.interval) - now
        if wait > 0 or self._under_way < self.abreast:
            return wait
        # Each look costs a plan: the more wait for a place, the later they ask again.
        return self.busy * max(1.0, len(self._since) / _PER_LOOK)

    @contextmanager
    def writing(self, key: str, clock: Clock) -> Iterator[None]:
        """Around the write; noted as written when it succeeds."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
        self.written(key, clock.monotonic())

    def in_step(self, key: str) -> None:
        """There is no difference (any more)."""
        self._since.pop(key, None)

    def written(self, key: str, now: float) -> None:
        """It has been written."""
        self._since.pop(key, None)
        self._last[key] = now

    def forget(self, key: str) -> None:
        """The set is gone."""
        self._since.pop(key, None)
        self._last.pop(key, None)
