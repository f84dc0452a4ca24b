"""The scheduler's view: tasks, jobs and nodes, made from raw objects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from deploy.local.scheduler_stand_in.quantity import Room, pod_requests, resources, subtract

__all__ = ["GROUP_NAME", "Job", "NodeRoom", "Queue", "Snapshot", "Task"]

GROUP_NAME: Final = "scheduling.k8s.io/group-name"
TASK_SPEC: Final = "volcano.sh/task-spec"
TASK_PRIORITY: Final = "volcano.sh/task-priority"
Json = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A pod."""

    raw: Json

    @property
    def key(self) -> str:
        """`namespace/name`."""
        meta = self.raw["metadata"]
        return f"{meta['namespace']}/{meta['name']}"

    @property
    def uid(self) -> str:
        """UID of the pod."""
        return str(self.raw["metadata"]["uid"])

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of the pod."""
        return self.raw["metadata"].get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """Annotations of the pod."""
        return self.raw["metadata"].get("annotations") or {}

    @property
    def spec(self) -> Json:
        """Spec of the pod."""
        spec: Json = self.raw["spec"]
        return spec

    @property
    def node(self) -> str:
        """Where it is bound, "" for nowhere."""
        return str(self.spec.get("nodeName", ""))

    @property
    def phase(self) -> str:
        """Phase of the pod."""
        return str(self.raw.get("status", {}).get("phase", "Pending"))

    @property
    def releasing(self) -> bool:
        """It is being deleted."""
        return "deletionTimestamp" in self.raw["metadata"]

    @property
    def finished(self) -> bool:
        """It takes no room any more."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def name(self) -> str:
        """Task inside the job: annotation, then label."""
        return self.annotations.get(TASK_SPEC) or self.labels.get(TASK_SPEC, "")

    @property
    def pending(self) -> bool:
        """It waits for a node and may be given one."""
        gates = self.spec.get("schedulingGates")
        return not (self.node or self.releasing or self.finished or gates)

    @property
    def placed(self) -> bool:
        """It has a node and counts."""
        return bool(self.node) and not self.releasing and self.phase != "Failed"

    @cached_property
    def request(self) -> Room:
        """What it takes."""
        return pod_requests(self.spec)

    @property
    def order(self) -> tuple[int, int, str]:
        """Sort key: priority downwards, then the number at the end of the name."""
        priority = self.annotations.get(TASK_PRIORITY, "")
        given = int(priority) if priority.lstrip("-").isdigit() else int(self.spec.get("priority") or 0)
        number = self.raw["metadata"]["name"].rpartition("-")[2]
        return -given, int(number) if number.isdigit() else 0, self.key


@dataclass
class Job:
    """A PodGroup and its pods."""

    raw: Json
    priority: int = 0
    tasks: list[Task] = field(default_factory=list)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        meta = self.raw["metadata"]
        return f"{meta['namespace']}/{meta['name']}"

    @property
    def spec(self) -> Json:
        """Spec of the PodGroup."""
        spec: Json = self.raw.get("spec") or {}
        return spec

    @property
    def phase(self) -> str:
        """Phase that it has now."""
        return (self.raw.get("status") or {}).get("phase") or ""

    @property
    def queue(self) -> str:
        """Name of its queue."""
        return self.spec.get("queue") or "default"

    @property
    def min_member(self) -> int:
        """Pods without which nothing starts."""
        return int(self.spec.get("minMember") or 0)

    @property
    def min_resources(self) -> Room:
        """Room asked of the queue before anything starts."""
        return resources(self.spec.get("minResources"))

    @property
    def order(self) -> tuple[int, str, str]:
        """Sort key: priority downwards, then age."""
        return -self.priority, self.raw["metadata"]["creationTimestamp"], self.key

    def running(self) -> int:
        """Pods that run."""
        return sum(1 for task in self.tasks if task.placed and task.phase == "Running")


@dataclass(frozen=True)
class Queue:
    """A queue."""

    name: str
    open: bool
    capability: Room


@dataclass
class NodeRoom:
    """A node and what is free on it."""

    raw: Json
    free: Room

    @property
    def name(self) -> str:
        """Name of the node."""
        return str(self.raw["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of the node."""
        return self.raw["metadata"].get("labels") or {}

    @property
    def taints(self) -> list[Json]:
        """Taints of the node."""
        return self.raw.get("spec", {}).get("taints") or []

    @property
    def usable(self) -> bool:
        """Ready and not cordoned."""
        conditions = self.raw.get("status", {}).get("conditions") or []
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return ready and not self.raw.get("spec", {}).get("unschedulable")


@dataclass
class Snapshot:
    """Everything one session looks at."""

    jobs: list[Job]
    nodes: dict[str, NodeRoom]
    queues: dict[str, Queue]
    hyper_nodes: list[Json]
    bound: list[Task]

    @classmethod
    def of(
        cls,
        *,
        pod_groups: Iterable[Json],
        pods: Iterable[Json],
        nodes: Iterable[Json],
        queues: Iterable[Json],
        hyper_nodes: Iterable[Json],
        priorities: Mapping[str, int],
        scheduler: str,
    ) -> "Snapshot":
        """From raw objects."""
        jobs = {}
        for raw in pod_groups:
            name = (raw.get("spec") or {}).get("priorityClassName", "")
            job = Job(raw, priorities.get(name, 0))
            jobs[job.key] = job
        tasks = [Task(pod) for pod in pods]
        rooms = {raw["metadata"]["name"]: NodeRoom(raw, _allocatable(raw)) for raw in nodes}
        bound = [task for task in tasks if task.node and not task.finished]
        for task in bound:
            if task.node in rooms:
                subtract(rooms[task.node].free, task.request)
        for task in tasks:
            group = task.annotations.get(GROUP_NAME, "")
            job_of = jobs.get(f"{task.raw['metadata']['namespace']}/{group}")
            if job_of is not None and task.spec.get("schedulerName") == scheduler:
                job_of.tasks.append(task)
        return cls(
            jobs=sorted(jobs.values(), key=lambda job: job.order),
            nodes=rooms,
            queues={queue.name: queue for queue in map(_queue, queues)},
            hyper_nodes=list(hyper_nodes),
            bound=bound,
        )


def _allocatable(raw: Json) -> Room:
    status = raw.get("status", {})
    return resources(status.get("allocatable") or status.get("capacity"))


def _queue(raw: Json) -> Queue:
    state = (raw.get("status") or {}).get("state") or "Open"
    return Queue(raw["metadata"]["name"], state == "Open", resources((raw.get("spec") or {}).get("capability")))
