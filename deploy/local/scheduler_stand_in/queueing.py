"""Which PodGroups may be looked at: the queue has room for their minResources."""

from collections.abc import Iterable

from deploy.local.scheduler_stand_in.model import Job, Queue, Snapshot
from deploy.local.scheduler_stand_in.quantity import Room, add, fits, resources

__all__ = ["enqueued"]


def enqueued(snapshot: Snapshot) -> set[str]:
    """Keys of the waiting PodGroups that are let in now, in order of priority and age."""
    total = _total(snapshot)
    used = {name: _held(snapshot.jobs, name) for name in snapshot.queues}
    admitted: set[str] = set()
    for job in snapshot.jobs:
        queue = snapshot.queues.get(job.queue)
        if job.phase not in {"", "Pending"} or queue is None or not queue.open:
            continue
        after = add([used[queue.name], job.min_resources])
        if _allowed(job, after, queue, total):
            used[queue.name] = after
            admitted.add(job.key)
    return admitted


def _allowed(job: Job, after: Room, queue: Queue, total: Room) -> bool:
    limit = {**total, **queue.capability}
    return fits({name: after[name] for name in job.min_resources if name in limit}, limit)


def _total(snapshot: Snapshot) -> Room:
    ready = (node for node in snapshot.nodes.values() if node.usable)
    return add(resources((node.raw.get("status") or {}).get("allocatable")) for node in ready)


def _held(jobs: Iterable[Job], queue: str) -> Room:
    """What the queue's groups hold: pods on nodes, and for those let in at least their minResources."""
    return add(_holds(job) for job in jobs if job.queue == queue)


def _holds(job: Job) -> Room:
    taken = add(task.request for task in job.tasks if task.placed and not task.finished)
    if job.phase != "Inqueue":
        return taken
    return _larger(taken, job.min_resources)


def _larger(left: Room, right: Room) -> Room:
    both = dict(left)
    for name, value in right.items():
        both[name] = max(both.get(name, value), value)
    return both
