"""What a group waits for, in words.

The PodGroup's phase is asked for one thing only, whether its queue has let it in: it says Inqueue for an empty group,
and its conditions never go away (FACTS section 2). Pods are asked for the rest: their gates, the scheduler's verdict on
them, and the state of their containers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from lws_volcano.api.errors import QuantityError
from lws_volcano.api.pods import Pod
from lws_volcano.api.quantity import format_resources, parse_resources
from lws_volcano.api.volcano import PodGroup, Queue

__all__ = ["capacity_message", "gates_on", "starting_message"]

_INSUFFICIENT: Final = re.compile(r"[Ii]nsufficient ([A-Za-z0-9./-]*[A-Za-z0-9])")
_MAX_MESSAGE: Final = 256


def gates_on(pods: Iterable[Pod]) -> str:
    """`name (pods)` of every scheduling gate, empty without any."""
    counted = Counter(gate.name for pod in pods for gate in pod.spec.scheduling_gates)
    return ", ".join(f"{name} ({count} pods)" for name, count in sorted(counted.items()))


def capacity_message(
    waiting: Iterable[Pod],
    pod_group: PodGroup | None,
    min_resources: Mapping[str, str],
    queues: Mapping[str, Queue] | None,
) -> str:
    """Which resource is short, as far as anybody says; else what the group asks for."""
    queue = (queues or {}).get(pod_group.spec.queue) if pod_group else None
    too_small = _over_capability(queue, min_resources) if queue else ""
    if too_small:
        return too_small
    said = _scheduler_messages(waiting, pod_group)
    short = sorted({name for text in said for name in _INSUFFICIENT.findall(text)})
    outside = _before_the_queue(pod_group)
    if short:
        return "; ".join(part for part in (f"short of {', '.join(short)}", outside) if part)
    asked = ", ".join(f"{name} {value}" for name, value in sorted(min_resources.items()))
    parts = [outside, f"the group asks for {asked}" if asked else "", said[-1][:_MAX_MESSAGE] if said else ""]
    return "; ".join(part for part in parts if part)


def starting_message(members: Iterable[Pod]) -> str:
    """Why containers do not run yet, by reason, empty when nothing is known."""
    reasons = Counter(
        str(state.state.waiting.get("reason") or "waiting")
        for pod in members
        for state in pod.status.container_statuses
        if state.state.waiting
    )
    return ", ".join(f"{reason} ({count} containers)" for reason, count in sorted(reasons.items()))


def _over_capability(queue: Queue, asked: Mapping[str, str]) -> str:
    try:
        room, need = parse_resources(queue.spec.capability), parse_resources(asked)
    except QuantityError:
        return ""
    over = {name: nano for name, nano in need.items() if name in room and nano > room[name]}
    if not over:
        return ""
    wanted, limits = format_resources(over), format_resources({name: room[name] for name in over})
    said = ", ".join(f"{name} {wanted[name]} of at most {limits.get(name, '0')}" for name in sorted(over))
    return f"queue {queue.name!r} can never admit it: the group asks for {said}; raise spec.capability of the queue"


def _before_the_queue(pod_group: PodGroup | None) -> str:
    """That the scheduler does not look at the pods yet: the queue, or the cluster, has no room for minResources."""
    if pod_group is None or pod_group.status.phase != "Pending":
        return ""
    return f"queue {pod_group.spec.queue!r} has not let it in yet"


def _scheduler_messages(waiting: Iterable[Pod], pod_group: PodGroup | None) -> list[str]:
    """What the scheduler said: about the PodGroup when that is its newest word, then about the pods."""
    said: list[str] = []
    if pod_group is not None:
        dated = [c for c in pod_group.status.conditions if c.last_transition_time is not None]
        newest = max(dated, key=lambda c: (c.last_transition_time, c.type), default=None)
        if newest is not None and newest.type == "Unschedulable" and newest.status == "True":
            said.append(newest.message)
    for pod in waiting:
        scheduled = pod.condition("PodScheduled")
        if scheduled is not None and scheduled.status == "False" and scheduled.message not in said:
            said.append(scheduled.message)
    return [text for text in said if text]
