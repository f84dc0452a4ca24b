"""When a group may start: minMember and minTaskMember."""

from collections import Counter
from collections.abc import Iterable

from deploy.local.scheduler_stand_in.model import Job, Task

__all__ = ["could_start", "short", "starts", "story"]


def could_start(job: Job) -> bool:
    """Enough pods exist, were there room for all."""
    return starts(job, [task for task in job.tasks if task.pending or task.placed])


def starts(job: Job, tasks: Iterable[Task]) -> bool:
    """These pods together reach the minimum. Below the sum of minTaskMember the per-task check is off."""
    listed = list(tasks)
    if len(listed) < job.min_member:
        return False
    minimum: dict[str, int] = job.spec.get("minTaskMember") or {}
    if job.min_member < sum(minimum.values()):
        return True
    count = Counter(task.name for task in listed)
    return all(count[name] >= least for name, least in minimum.items())


def short(job: Job) -> bool:
    """It has pods, and fewer on nodes than its minimum. Pods that end count while none waits to take their place."""
    waits = any(task.pending for task in job.tasks)
    count = sum(1 for task in job.tasks if task.placed or (task.node and task.releasing and not waits))
    return bool(job.tasks) and count < job.min_member


def story(job: Job) -> str:
    """Why not, in the scheduler's own words."""
    counted: Counter[str] = Counter()
    for task in job.tasks:
        if task.releasing:
            counted["Releasing"] += 1
        elif task.spec.get("schedulingGates"):
            counted["SchGated"] += 1
        elif task.pending:
            counted["Pending"] += 1
        elif task.placed:
            counted["Running" if task.phase == "Running" else "Bound"] += 1
    parts = [f"{count} {state}" for state, count in sorted(counted.items())]
    waiting = counted["Pending"]
    tail = f"; Pending: {waiting} Unschedulable" if waiting else ""
    return f"pod group is not ready, {', '.join([*parts, f'{job.min_member} minAvailable'])}{tail}"
