"""Status of a PodGroup after a session: phase, counts and conditions, which are only ever added or renewed."""

import uuid
from copy import deepcopy
from typing import Any, Final

from deploy.local.scheduler_stand_in.gang import short, story
from deploy.local.scheduler_stand_in.model import Job

__all__ = ["pod_group_status"]

READY: Final = "tasks in gang are ready to be scheduled"
Json = dict[str, Any]


def pod_group_status(job: Job, *, enqueued: bool, placed: int, now: str) -> Json:
    """The status to write.

    Parameters
    ----------
    job : Job
        The group as it was when the session began.
    enqueued : bool
        The session let it into its queue.
    placed : int
        Pods that the session gave nodes.
    now : str
        Time of new conditions.
    """
    status = deepcopy(job.raw.get("status") or {})
    missing = not placed and short(job)
    status["phase"] = _phase(job, enqueued=enqueued, placed=placed, missing=missing)
    counts = {
        "running": job.running(),
        "succeeded": sum(1 for task in job.tasks if task.phase == "Succeeded"),
        "failed": sum(1 for task in job.tasks if task.phase == "Failed"),
    }
    for name, count in counts.items():
        if count:
            status[name] = count
        else:
            status.pop(name, None)
    if placed or (status["phase"] == "Running" and job.phase != "Running"):
        _set(status, {"type": "Scheduled", "reason": READY}, now)
    elif missing:
        message = f"{job.min_member}/{len(job.tasks)} tasks in gang unschedulable: {story(job)}"
        _set(status, {"type": "Unschedulable", "reason": "NotEnoughResources", "message": message}, now)
    return status


def _phase(job: Job, *, enqueued: bool, placed: int, missing: bool) -> str:
    """A group of which something runs below its minimum is `Unknown`, let in or not, and so it stays in."""
    if missing and job.running():
        return "Unknown"
    scheduled = [task for task in job.tasks if task.node and task.phase != "Failed"]
    if job.tasks and len(scheduled) + placed >= job.min_member:
        return "Completed" if not placed and all(task.phase == "Succeeded" for task in scheduled) else "Running"
    return "Inqueue" if enqueued or job.phase == "Inqueue" else "Pending"


def _set(status: Json, wanted: Json, now: str) -> None:
    conditions: list[Json] = status.setdefault("conditions", [])
    at = next((place for place, one in enumerate(conditions) if one["type"] == wanted["type"]), None)
    fresh = {**wanted, "status": "True", "transitionID": str(uuid.uuid4()), "lastTransitionTime": now}
    if at is None:
        conditions.append(fresh)
    elif _said(conditions[at]) != _said(fresh) or wanted["type"] == "Scheduled":
        conditions[at] = fresh


def _said(condition: Json) -> tuple[Any, ...]:
    return condition.get("status"), condition.get("reason"), condition.get("message")
