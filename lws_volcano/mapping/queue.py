"""Queue of a group.

Rule (CONTRACTS section 1): annotation `scheduling.volcano.sh/queue-name` on the LWS, then on its pod templates
(leader's, then worker's), then on the namespace, then `default`.

Volcano refuses a PodGroup whose queue is absent or not open, so a new one waits until the queue is right; one that is
there already stays in the queue it has (moved to a closed queue it would fall out of scheduling). The queue `default`
is taken to exist: Volcano makes it at its start.
"""

import re
from collections.abc import Iterator, Mapping

from lws_volcano.api.cluster import Namespace
from lws_volcano.api.names import DEFAULT_QUEUE, QUEUE_NAME, Reason
from lws_volcano.api.volcano import Queue
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["check_queue", "choose_queue"]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_MAX_NAME = 253


def choose_queue(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, namespace: Namespace | None) -> tuple[str, str]:
    """Name of the queue, and where it is written."""
    for where, annotations in _places(lws, template, namespace):
        name = annotations.get(QUEUE_NAME)
        if name:
            return name, where
    return DEFAULT_QUEUE, "nowhere, so it is the default"


def check_queue(name: str, where: str, queues: Mapping[str, Queue] | None) -> Problem | None:
    """What keeps a PodGroup out of this queue; nothing is concluded where the queues may not be read."""
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        return _problem(
            Reason.INVALID_ANNOTATION,
            f"{QUEUE_NAME} is {name[:80]!r} on {where}, which is no name; write the name of a queue",
        )
    if queues is None or (name == DEFAULT_QUEUE and name not in queues):
        return None
    if name not in queues:
        return _problem(
            Reason.QUEUE_NOT_FOUND,
            f"there is no queue {name!r} (written on {where}); create it or name another with {QUEUE_NAME}",
        )
    state = queues[name].status.state
    if state not in {"", "Open"}:
        return _problem(
            Reason.QUEUE_NOT_OPEN, f"queue {name!r} (written on {where}) is {state}; open it or name another one"
        )
    return None


def _places(
    lws: LeaderWorkerSet, template: LeaderWorkerTemplate, namespace: Namespace | None
) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "the LeaderWorkerSet", lws.metadata.annotations
    yield "the leader's pod template", template.leader.metadata.annotations
    yield "the worker's pod template", template.worker_template.metadata.annotations
    if namespace is not None:
        yield f"namespace {namespace.name}", namespace.metadata.annotations


def _problem(reason: Reason, message: str) -> Problem:
    return Problem(reason, message, Cost.CREATION)
