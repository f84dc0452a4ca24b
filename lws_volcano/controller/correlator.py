"""Which Events are worth a request: the rules of client-go's event correlator. Pure but for the time it is given.

- Spam: at most 25 Events about one object at once, one more every 5 minutes.
- Aggregation: more than 10 different messages of one reason about one object within 10 minutes become one Event.
- Counting: what has been said before raises a count instead of making a new Event.

Source: client-go tools/record/events_cache.go.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

__all__ = ["Correlator", "Remark", "Saying"]

BURST: Final = 25
REFILL: Final = 300.0
SIMILAR: Final = 10
SIMILAR_WITHIN: Final = 600.0
REMEMBERED: Final = 4096

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to say about an object."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    warning: bool


@dataclass
class Saying:
    """An Event that exists, or is about to."""

    remark: Remark
    first: float
    count: int = 0
    event: str = ""
    """Name of the Event, empty until it is created."""


class _Recent(OrderedDict[K, V], Generic[K, V]):
    """The entries used last; older ones are forgotten."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > REMEMBERED:
            self.popitem(last=False)


@dataclass
class _Bucket:
    tokens: float
    at: float


@dataclass
class Correlator:
    """Remembers what was said."""

    _buckets: _Recent[str, _Bucket] = field(default_factory=_Recent)
    _similar: _Recent[tuple[str, str, bool], tuple[float, set[str]]] = field(default_factory=_Recent)
    _sayings: _Recent[tuple[str, str, bool, str], Saying] = field(default_factory=_Recent)

    def say(self, remark: Remark, now: float) -> Saying | None:
        """The Event to create (`count` 1) or to count up; None where it would be spam."""
        aggregated, key = self._aggregate(remark, now)
        if not self._allowed(remark.uid, now):
            return None
        saying = self._sayings.get(key) or Saying(aggregated, now)
        saying.remark = aggregated
        saying.count += 1
        self._sayings[key] = saying
        return saying

    def lost(self, saying: Saying) -> None:
        """The Event could not be written, or is gone: the next time makes a new one."""
        for key, known in list(self._sayings.items()):
            if known is saying:
                del self._sayings[key]

    def _aggregate(self, remark: Remark, now: float) -> tuple[Remark, tuple[str, str, bool, str]]:
        about = (remark.uid, remark.reason, remark.warning)
        last, messages = self._similar.get(about, (now, set()))
        if now - last > SIMILAR_WITHIN:
            messages = set()
        messages.add(remark.message)
        if len(messages) <= SIMILAR:
            self._similar[about] = (now, messages)
            return remark, (*about, remark.message)
        messages.pop()
        self._similar[about] = (now, messages)
        text = f"(combined from similar events): {remark.message}"
        return _with_message(remark, text), (*about, "")

    def _allowed(self, uid: str, now: float) -> bool:
        bucket = self._buckets.get(uid) or _Bucket(BURST, now)
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.at) / REFILL)
        bucket.at = now
        self._buckets[uid] = bucket
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _with_message(remark: Remark, message: str) -> Remark:
    return Remark(
        api_version=remark.api_version,
        kind=remark.kind,
        namespace=remark.namespace,
        name=remark.name,
        uid=remark.uid,
        reason=remark.reason,
        message=message,
        warning=remark.warning,
    )
