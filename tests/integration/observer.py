"""What must hold at every moment (DESIGN section 5, rules 1 to 3), checked on a recording of everything that happened.

The events of all kinds are replayed in the order of their resource versions, so nothing between two looks is missed.
Rule 4 (passes without a change make no write) is asked of the API server's audit log: see `World.writes_of`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from deploy.local.api import Object
from lws_volcano.api.names import GROUP_NAME, LWS_NAME, MANAGED_BY, MANAGER, SIZE, WORKER_INDEX
from tests.integration.recorder import Event

__all__ = ["violations"]

ALLOWED_STATUS = "status"


@dataclass
class _State:
    """The world at one point of the replay."""

    pods: dict[str, Object] = field(default_factory=dict)
    groups: dict[str, Object] = field(default_factory=dict)
    sets: dict[str, Object] = field(default_factory=dict)


def violations(events: Iterable[Event]) -> list[str]:
    """Every breach of the rules, in words; empty when all held.

    Parameters
    ----------
    events : iterable of Event
        Pods, PodGroups and LeaderWorkerSets at least, in order (`Recorder.events`).
    """
    state = _State()
    found: list[str] = []
    for event in events:
        found += _untouched(event)
        if event.kind == "Pod":
            found += _bound_whole(state, event)
        if event.kind == "PodGroup" and event.type == "DELETED":
            found += _group_outlives_pods(state, event)
        _replay(state, event)
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


def _bound_whole(state: _State, event: Event) -> list[str]:
    """Rule 1: no worker is bound while its PodGroup asks for less than the whole group."""
    pod = event.object
    meta = pod["metadata"]
    before = state.pods.get(event.name, {}).get("spec", {}).get("nodeName")
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    if before or not pod["spec"].get("nodeName") or labels.get(WORKER_INDEX, "0") == "0":
        return []
    group = state.groups.get(annotations.get(GROUP_NAME, ""))
    if group is None or not _ours(group):
        return []
    minimum, size = group["spec"].get("minMember", 0), int(annotations[SIZE])
    if minimum >= size:
        return []
    return [f"rule 1: worker {event.name} was bound while {group['metadata']['name']} asked for {minimum} of {size}"]


def _group_outlives_pods(state: _State, event: Event) -> list[str]:
    """Rule 2: a PodGroup exists for as long as a pod of its group, unless its LeaderWorkerSet is being deleted."""
    if not _ours(event.object):
        return []
    owner = (event.object["metadata"].get("labels") or {}).get(LWS_NAME, "")
    lws = state.sets.get(owner)
    if lws is None or lws["metadata"].get("deletionTimestamp"):
        return []
    left = sorted(
        name
        for name, pod in state.pods.items()
        if (pod["metadata"].get("annotations") or {}).get(GROUP_NAME) == event.name
    )
    return [f"rule 2: {event.name} was deleted while {', '.join(left)} existed"] if left else []


def _untouched(event: Event) -> list[str]:
    """Rule 3: our field manager shows only where we may write."""
    meta = event.object["metadata"]
    for entry in meta.get("managedFields") or ():
        if entry["manager"] != MANAGER or event.type == "DELETED":
            continue
        if event.kind == "LeaderWorkerSet" and entry.get("subresource") == ALLOWED_STATUS:
            continue
        if event.kind == "Pod" or (event.kind == "PodGroup" and _ours(event.object)):
            continue
        if event.kind in {"HyperNode", "Event"}:
            continue
        return [f"rule 3: {event.kind} {event.name} carries our field manager"]
    return []


def _ours(group: Object) -> bool:
    return (group["metadata"].get("labels") or {}).get(MANAGED_BY) == MANAGER
