"""Task names of a group: what Volcano counts against minTaskMember.

Rule: `leader` and `worker`, unless the user wrote `volcano.sh/task-spec` on the pod template himself, as an annotation
or as a label (Volcano looks in that order). His name is kept and the PodGroup follows it: a pod whose task the PodGroup
does not know, or the other way round, never starts and no message names the cause (FACTS section 2).
"""

from lws_volcano.api.meta import Metadata
from lws_volcano.api.names import LEADER, TASK_SPEC, WORKER
from lws_volcano.api.workloads import LeaderWorkerTemplate

__all__ = ["min_task_member", "task_names", "task_of"]


def task_of(metadata: Metadata, role: str) -> str:
    """Task of a pod or template: the user's own name, or the role's."""
    return metadata.annotations.get(TASK_SPEC) or metadata.labels.get(TASK_SPEC) or role


def task_names(template: LeaderWorkerTemplate) -> tuple[str, str]:
    """Task of the leader and of the workers."""
    if template.leader_template is None:
        shared = task_of(template.worker_template.metadata, "")
        return shared or LEADER, shared or WORKER
    return task_of(template.leader.metadata, LEADER), task_of(template.worker_template.metadata, WORKER)


def min_task_member(template: LeaderWorkerTemplate, leaders: int, workers: int) -> dict[str, int]:
    """Counts per task, without zero keys; one entry when both roles go by one name."""
    leader, worker = task_names(template)
    counts = {leader: leaders}
    counts[worker] = counts.get(worker, 0) + workers
    return {task: count for task, count in counts.items() if count}
