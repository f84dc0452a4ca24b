"""One scheduling session: a snapshot in, decisions out."""

import random
from dataclasses import dataclass, field
from typing import Any

from deploy.local.scheduler_stand_in.allocation import Allocator
from deploy.local.scheduler_stand_in.fitness import Fitness
from deploy.local.scheduler_stand_in.gang import could_start, story
from deploy.local.scheduler_stand_in.hyper_nodes import Tree
from deploy.local.scheduler_stand_in.model import Job, Snapshot, Task
from deploy.local.scheduler_stand_in.outcome import pod_group_status
from deploy.local.scheduler_stand_in.queueing import enqueued

__all__ = ["Decisions", "run_session"]

Json = dict[str, Any]


@dataclass
class Decisions:
    """What the session came to.

    Attributes
    ----------
    bindings : list
        Task and node name.
    statuses : dict
        Key of a PodGroup -> new status, only where it differs.
    unschedulable : list
        Task and the message for its PodScheduled condition.
    """

    bindings: list[tuple[Task, str]] = field(default_factory=list)
    statuses: dict[str, Json] = field(default_factory=dict)
    unschedulable: list[tuple[Task, str]] = field(default_factory=list)


def run_session(snapshot: Snapshot, chance: random.Random, now: str) -> Decisions:
    """Let groups into their queues, then give nodes to those that are in, one group after the other."""
    decisions = Decisions()
    admitted = enqueued(snapshot)
    fitness = Fitness(snapshot.nodes, snapshot.bound)
    tree = Tree(snapshot.hyper_nodes, snapshot.nodes)
    allocator = Allocator(snapshot.nodes, fitness, tree, chance)
    for job in snapshot.jobs:
        if job.queue not in snapshot.queues:
            continue  # no part of the session at all: its status stays as it is
        inside = job.key in admitted or job.phase in {"Inqueue", "Running", "Unknown"}
        waiting = [task for task in job.tasks if task.pending]
        trial = allocator.allocate(job) if inside and waiting and could_start(job) else None
        if trial is not None:
            trial.commit()
            fitness.remember(trial.placed)
            decisions.bindings += trial.placed
        elif inside and waiting:
            decisions.unschedulable += [(task, story(job)) for task in waiting]
        _report(job, decisions, enqueued=job.key in admitted, placed=len(trial.placed) if trial else 0, now=now)
    return decisions


def _report(job: Job, decisions: Decisions, *, enqueued: bool, placed: int, now: str) -> None:
    status = pod_group_status(job, enqueued=enqueued, placed=placed, now=now)
    if status != (job.raw.get("status") or {}):
        decisions.statuses[job.key] = status
