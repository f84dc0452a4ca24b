"""What must hold at every moment (DESIGN section 5, rules 1 to 4 and 7), checked while it happens.

The events of all kinds are replayed in the order of their resource versions, so nothing between two looks is missed.
`Observer` follows a recording and fails at the first breach. Rule 4 compares the writes in the API server's audit log
with the changes that were seen: a write that changed nothing is one too many. Rule 7 is that rules 1 to 4 hold and the
end is right (`tests.integration.rightness`) wherever the controller was killed.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from deploy.local.api import Object
from deploy.local.audit import Write
from lws_volcano.api.names import (
    GANG_SCHEDULED,
    GROUP_INDEX,
    GROUP_NAME,
    LWS_NAME,
    MANAGED_BY,
    MANAGER,
    REVISION_HASH,
    SIZE,
    WORKER_INDEX,
)
from tests.integration.recorder import Event, Recorder

__all__ = ["Observer", "idle_writes", "violations"]

LAG = 3.0
"""Seconds by which the watch of one kind may lag behind that of another on a busy machine."""
UNSEEN = 1.0
"""Seconds for which a new pod may not be known yet: an empty PodGroup that goes at that moment is made again."""
EMPTY = 20.0
"""Seconds for which a PodGroup may be without pods (a group that restarts has none for a while)."""
SUCCESS = range(200, 300)


@dataclass
class _State:
    """The world at one point of the replay."""

    pods: dict[str, Object] = field(default_factory=dict)
    groups: dict[str, Object] = field(default_factory=dict)
    sets: dict[str, Object] = field(default_factory=dict)
    unseen: float = UNSEEN
    came: dict[str, float] = field(default_factory=dict)
    """Time of the first event of each pod, by UID."""
    behind: Counter[str] = field(default_factory=Counter)
    """Pods by the PodGroup that they name."""
    empty_since: dict[str, float] = field(default_factory=dict)


class Observer:
    """Follows a recorder; `check` raises AssertionError once a rule was broken.

    Everything is replayed each time, because the watch of one kind may lag behind that of another; a breach counts once
    it has been seen for longer than such a lag.

    Parameters
    ----------
    recorder : Recorder
        Of pods, PodGroups and LeaderWorkerSets at least.
    empty, unseen : float
        Seconds for which a PodGroup may be without pods, and a pod unknown to the controller: longer where it is down
        now and then, or its requests are held up.
    """

    def __init__(self, recorder: Recorder, *, empty: float = EMPTY, unseen: float = UNSEEN) -> None:
        self._recorder = recorder
        self._empty = empty
        self._unseen = unseen
        self._since: dict[str, float] = {}
        self._next = 0.0

    def check(self) -> None:
        """Look, at most once a second."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1.0
        found = self._now()
        self._since = {breach: self._since.get(breach, now) for breach in found}
        lasting = [breach for breach, since in self._since.items() if now - since > LAG]
        assert not lasting, lasting[:5]

    async def finish(self, forgiven: tuple[str, ...] = (), writes: Callable[[], Iterable[Write]] = lambda: ()) -> None:
        """The last look, when the watches have caught up; breaches that begin with a forgiven word do not count.

        With `writes`, those of the controller, rule 4 is looked at as well.
        """
        deadline = time.monotonic() + 2 * LAG
        while found := self._last(forgiven, list(writes())):
            assert time.monotonic() < deadline, found[:5]
            await asyncio.sleep(0.1)

    def _last(self, forgiven: tuple[str, ...], writes: list[Write]) -> list[str]:
        found = self._now() + idle_writes(self._recorder.events, writes)
        return [one for one in found if not (forgiven and one.startswith(forgiven))]

    def _now(self) -> list[str]:
        return violations(self._recorder.events, self._empty, time.monotonic(), self._unseen)


def violations(events: Iterable[Event], empty: float = EMPTY, now: float = 0.0, unseen: float = UNSEEN) -> list[str]:
    """Every breach of rules 1 to 3, in words; empty when all held.

    Parameters
    ----------
    events : iterable of Event
        Pods, PodGroups and LeaderWorkerSets at least, in order (`Recorder.events`).
    empty, now : float
        How long a PodGroup may have no pods, and the monotonic time of the look.
    unseen : float
        How long the controller may not know of a pod.
    """
    state = _State(unseen=unseen)
    found = [breach for event in events for breach in _breaches(state, event)]
    return found + _left_over(state, empty, now)


def idle_writes(events: Iterable[Event], writes: Iterable[Write]) -> list[str]:
    """Rule 4: writes of ours that changed nothing.

    Parameters
    ----------
    events : iterable of Event
        From before the first of the writes.
    writes : iterable of Write
        Those of the controller.
    """
    changed: Counter[tuple[str, str]] = Counter()
    before: dict[tuple[str, str], object] = {}
    for event in events:
        key = event.kind, event.name
        parts = None if event.type == "DELETED" else _ours_to_write(event.object)
        if event.kind in {"PodGroup", "LeaderWorkerSet"} and parts != before.get(key):
            changed[key] += 1
        before[key] = parts
    written = Counter(
        ("PodGroup" if write.resource == "podgroups" else "LeaderWorkerSet", write.name)
        for write in writes
        if write.resource in {"podgroups", "leaderworkersets/status"}
        and write.verb in {"create", "patch", "update"}
        and write.code in SUCCESS
        and not write.dry_run
    )
    return [
        f"rule 4: {kind} {name} was written {count} times and changed {changed[kind, name]} times"
        for (kind, name), count in written.items()
        if count > changed[kind, name]
    ]


def _ours_to_write(found: Object) -> object:
    if found["kind"] == "PodGroup":
        meta = found["metadata"]
        kept = ("labels", "annotations", "ownerReferences")
        return meta["uid"], found["spec"], [meta.get(name) for name in kept]
    conditions = (found.get("status") or {}).get("conditions") or ()
    return found["metadata"]["uid"], [one for one in conditions if one["type"] == GANG_SCHEDULED]


def _breaches(state: _State, event: Event) -> list[str]:
    found = _untouched(event)
    if event.kind == "Pod":
        state.came.setdefault(event.object["metadata"]["uid"], event.time)
        found += _bound_whole(state, event)
    if event.kind == "PodGroup":
        found += _group_outlives_pods(state, event)
    before = state.pods.get(event.name) if event.kind == "Pod" else None
    _replay(state, event)
    _note_empty(state, event, before)
    return found


def _replay(state: _State, event: Event) -> None:
    stores = {"Pod": state.pods, "PodGroup": state.groups, "LeaderWorkerSet": state.sets}
    store = stores.get(event.kind)
    if store is None:
        return
    if event.type == "DELETED":
        store.pop(event.name, None)
    else:
        store[event.name] = event.object


def _note_empty(state: _State, event: Event, before: Object | None) -> None:
    """Keep in mind since when each PodGroup of ours has no pod; `before` is the object as it was."""
    if event.kind == "Pod":
        names = [_annotation(pod, GROUP_NAME) for pod in (before, state.pods.get(event.name)) if pod is not None]
        if before is not None:
            state.behind[names[0]] -= 1
        if event.type != "DELETED":
            state.behind[names[-1]] += 1
    elif event.kind == "PodGroup":
        names = [event.name]
    else:
        return
    for name in names:
        group = state.groups.get(name)
        if group is None or not _ours(group) or state.behind[name] > 0:
            state.empty_since.pop(name, None)
        else:
            state.empty_since.setdefault(name, event.time)


def _left_over(state: _State, empty: float, now: float) -> list[str]:
    """Rule 2, the other half: within a pass of the last pod's end the PodGroup is gone."""
    return [
        f"rule 2: {name} has stood without pods for over {empty:g} s"
        for name, since in state.empty_since.items()
        if now - since > empty and "deletionTimestamp" not in state.groups[name]["metadata"]
    ]


def _bound_whole(state: _State, event: Event) -> list[str]:
    """Rule 1: no worker is bound while its PodGroup asks for less than the whole group.

    Members that got their node before the gang was asked for, in another PodGroup or in none, cannot be asked for.
    """
    pod = event.object
    before = state.pods.get(event.name, {})
    if before.get("metadata", {}).get("uid") == pod["metadata"]["uid"] and before["spec"].get("nodeName"):
        return []
    if not pod["spec"].get("nodeName") or _label(pod, WORKER_INDEX) in {"", "0"}:
        return []
    group = state.groups.get(_annotation(pod, GROUP_NAME))
    if group is None or not _ours(group):
        return []
    outside = sum(_is_outside(other, pod, group["metadata"]["name"]) for other in state.pods.values())
    minimum, size = group["spec"].get("minMember", 0), int(_annotation(pod, SIZE)) - outside
    if minimum >= size:
        return []
    return [f"rule 1: worker {event.name} was bound while {group['metadata']['name']} asked for {minimum} of {size}"]


def _is_outside(other: Object, pod: Object, group: str) -> bool:
    keys = (LWS_NAME, GROUP_INDEX, REVISION_HASH)
    same = all(_label(other, key) == _label(pod, key) for key in keys)
    return same and bool(other["spec"].get("nodeName")) and _annotation(other, GROUP_NAME) != group


def _group_outlives_pods(state: _State, event: Event) -> list[str]:
    """Rule 2: a PodGroup exists for as long as a pod of its group, unless its LeaderWorkerSet is being deleted."""
    going = event.type == "DELETED" or "deletionTimestamp" in event.object["metadata"]
    before = state.groups.get(event.name, {}).get("metadata", {})
    if not going or "deletionTimestamp" in before or not _ours(event.object):
        return []
    lws = state.sets.get(_label(event.object, LWS_NAME))
    if lws is None or lws["metadata"].get("deletionTimestamp"):
        return []
    left = sorted(
        name
        for name, pod in state.pods.items()
        if _annotation(pod, GROUP_NAME) == event.name and event.time - state.came[pod["metadata"]["uid"]] > state.unseen
    )
    return [f"rule 2: {event.name} was deleted while {', '.join(left)} existed"] if left else []


def _untouched(event: Event) -> list[str]:
    """Rule 3: our field manager shows only where we may write."""
    meta = event.object["metadata"]
    for entry in meta.get("managedFields") or ():
        if entry["manager"] != MANAGER or event.type == "DELETED":
            continue
        if event.kind == "LeaderWorkerSet" and entry.get("subresource") == "status":
            continue
        if event.kind == "Pod" or (event.kind == "PodGroup" and _ours(event.object)):
            continue
        if event.kind in {"HyperNode", "Event"}:
            continue
        return [f"rule 3: {event.kind} {event.name} carries our field manager"]
    return []


def _ours(group: Object) -> bool:
    return _label(group, MANAGED_BY) == MANAGER


def _label(found: Object, key: str) -> str:
    return str((found["metadata"].get("labels") or {}).get(key, ""))


def _annotation(found: Object, key: str) -> str:
    return str((found["metadata"].get("annotations") or {}).get(key, ""))
