"""Nodes for the pods of one group: all that it needs to start, or none."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deploy.local.scheduler_stand_in.fitness import Fitness
from deploy.local.scheduler_stand_in.gang import starts
from deploy.local.scheduler_stand_in.hyper_nodes import Tree
from deploy.local.scheduler_stand_in.model import Job, NodeRoom, Task
from deploy.local.scheduler_stand_in.quantity import Room, fits, subtract

__all__ = ["Allocator", "Trial"]

Json = Mapping[str, Any]


@dataclass
class Trial:
    """Placements that are not final yet, with the room they leave."""

    nodes: Mapping[str, NodeRoom]
    placed: list[tuple[Task, str]] = field(default_factory=list)
    free: dict[str, Room] = field(default_factory=dict)

    def room(self, node: str) -> Room:
        """What is free on the node, after these placements."""
        return self.free.get(node) or self.nodes[node].free

    def place(self, task: Task, node: str) -> None:
        """Put a task on a node."""
        room = dict(self.room(node))
        subtract(room, task.request)
        self.free[node] = room
        self.placed.append((task, node))

    def copy(self) -> "Trial":
        """A trial that can be thrown away."""
        return Trial(self.nodes, list(self.placed), dict(self.free))

    def commit(self) -> None:
        """Make it final for this session."""
        for name, room in self.free.items():
            self.nodes[name].free = room


class Allocator:
    """Places groups within one session."""

    def __init__(self, nodes: Mapping[str, NodeRoom], fitness: Fitness, tree: Tree, chance: random.Random) -> None:
        self._nodes = nodes
        self._fitness = fitness
        self._tree = tree
        self._chance = chance

    def allocate(self, job: Job) -> Trial | None:
        """Placements that let the group start (or grow), None where there are none."""
        waiting = sorted((task for task in job.tasks if task.pending), key=lambda task: task.order)
        topology = job.spec.get("networkTopology")
        subs = [policy for policy in job.spec.get("subGroupPolicy") or () if policy.get("networkTopology")]
        if (topology or subs) and self._tree.malformed:
            return None
        present = frozenset(task.node for task in job.tasks if task.placed)
        for tier in self._choices(topology, present):
            trials = [self._within(job, waiting, nodes) for nodes in tier]
            good = [trial for trial in trials if trial is not None]
            if good:
                most = max(len(trial.placed) for trial in good)
                return self._chance.choice([trial for trial in good if len(trial.placed) == most])
        return None

    def _choices(self, topology: Json | None, present: frozenset[str]) -> list[list[frozenset[str]]]:
        """Sets of nodes to try, tier by tier: those that hold what the group has already."""
        everything = frozenset(self._nodes)
        if topology is None or not self._tree.domains:
            return [[everything]]
        tiers = [[one.nodes for one in tier if present <= one.nodes] for tier in self._tree.up_to(topology)]
        return tiers if topology.get("mode", "hard") == "hard" else [*tiers, [everything]]

    def _within(self, job: Job, waiting: Sequence[Task], nodes: frozenset[str]) -> Trial | None:
        trial = Trial(self._nodes)
        for tasks, topology in self._parts(job, waiting):
            if topology is None:
                for task in tasks:
                    self._one(trial, task, nodes)
            else:
                self._together(job, trial, tasks, topology, nodes)
        there = [task for task in job.tasks if task.placed]
        complete = starts(job, [*there, *(task for task, _ in trial.placed)])
        return trial if trial.placed and complete and self._enough_sub_groups(job, trial) else None

    def _parts(self, job: Job, waiting: Sequence[Task]) -> list[tuple[list[Task], Json | None]]:
        """Tasks by sub-group, in order of their first task, with the sub-group's own constraint."""
        policies = job.spec.get("subGroupPolicy") or ()
        parts: dict[str, tuple[list[Task], Json | None]] = {}
        for task in waiting:
            name, topology = next(
                ((_sub_group(policy, task), policy.get("networkTopology")) for policy in policies
                 if _sub_group(policy, task)), ("", None)
            )  # fmt: skip
            parts.setdefault(name, ([], topology))[0].append(task)
        return list(parts.values())

    def _together(self, job: Job, trial: Trial, tasks: Sequence[Task], topology: Json, nodes: frozenset[str]) -> None:
        """Place a sub-group in the closest domain that takes all of it; under hard, or not at all."""
        names = {_sub_group(policy, tasks[0]) for policy in job.spec["subGroupPolicy"]} - {""}
        present = frozenset(
            task.node for task in job.tasks
            if task.placed and any(_sub_group(policy, task) in names for policy in job.spec["subGroupPolicy"])
        )  # fmt: skip
        for tier in self._choices(topology, present):
            self._chance.shuffle(tier)
            for domain in tier:
                attempt = trial.copy()
                if all(self._one(attempt, task, domain & nodes) for task in tasks):
                    trial.placed, trial.free = attempt.placed, attempt.free
                    return

    def _enough_sub_groups(self, job: Job, trial: Trial) -> bool:
        with_node = [*(task for task in job.tasks if task.placed), *(task for task, _ in trial.placed)]
        for policy in job.spec.get("subGroupPolicy") or ():
            least = int(policy.get("minSubGroups") or 0)
            width = int(policy.get("subGroupSize") or 1)
            counted: dict[str, int] = {}
            for task in with_node:
                if name := _sub_group(policy, task):
                    counted[name] = counted.get(name, 0) + 1
            if sum(1 for count in counted.values() if count >= width) < least:
                return False
        return True

    def _one(self, trial: Trial, task: Task, nodes: Iterable[str]) -> bool:
        """Place one task on the node it likes best, if any takes it."""
        allowed = self._fitness.allowed(task)
        candidates = [
            name for name in nodes
            if name in allowed
            and fits(task.request, trial.room(name))
            and self._fitness.apart(task, name, trial.placed)
        ]  # fmt: skip
        if not candidates:
            return False
        scores = self._fitness.scores(task, candidates)
        best = max(scores.values())
        trial.place(task, self._chance.choice(sorted(name for name in candidates if scores[name] == best)))
        return True


def _sub_group(policy: Json, task: Task) -> str:
    """Name of the sub-group that the task belongs to under this policy, "" for none."""
    keys: list[str] = policy.get("matchLabelKeys") or []
    if not keys or any(key not in task.labels for key in keys):
        return ""
    return "/".join([policy.get("name", ""), *(task.labels[key] for key in keys)])
