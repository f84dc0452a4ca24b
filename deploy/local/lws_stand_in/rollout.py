"""Arithmetic of rolling updates: partition and replicas of the leader StatefulSet.

Groups are updated from the highest index downwards, at most maxUnavailable at once (rounded down), with up to maxSurge
(rounded up) more groups above `replicas` meanwhile; with `partition` set, groups below it stay.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from deploy.local.lws_stand_in.names import Json

__all__ = ["Budget", "GroupState", "Rollout", "next_step"]


@dataclass(frozen=True)
class GroupState:
    """Of one group: leader and workers are Ready; both are of the newest revision."""

    ready: bool = False
    updated: bool = False


@dataclass(frozen=True)
class Budget:
    """How many groups an update may take away and add."""

    replicas: int
    unavailable: int
    surge: int
    partition: int

    @classmethod
    def of(cls, lws: Json) -> Self:
        """As the set asks for."""
        spec = lws["spec"]
        replicas = int(spec["replicas"])
        rolling = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
        return cls(
            replicas=replicas,
            unavailable=share(rolling.get("maxUnavailable", 1), replicas, up=False),
            surge=min(share(rolling.get("maxSurge", 0), replicas, up=True), replicas),
            partition=int(rolling.get("partition") or 0),
        )

    def wanted(self, unready: int) -> int:
        """Replicas while so many of the wanted groups are not ready and updated: surge goes when no longer needed."""
        if unready <= self.surge:
            return self.replicas + max(unready - self.unavailable, 0)
        return self.replicas + self.surge


@dataclass(frozen=True)
class Rollout:
    """What the leader StatefulSet says now."""

    partition: int
    replicas: int
    noted_replicas: int
    """`spec.replicas` of the set when it was last applied."""


def share(value: int | str, total: int, *, up: bool) -> int:
    """A number, or a percentage of `total`."""
    if isinstance(value, int):
        return value
    exact = int(value.removesuffix("%")) * total / 100
    return math.ceil(exact) if up else math.floor(exact)


def next_step(budget: Budget, now: Rollout | None, states: Sequence[GroupState], *, changed: bool) -> tuple[int, int]:
    """Partition and replicas to apply.

    Parameters
    ----------
    budget, now
        What is asked for, and what is; None before the StatefulSet exists.
    states : sequence
        One a group, by index, for all of `now.replicas`.
    changed : bool
        A new revision has just been made.
    """
    partition, replicas = _unbounded(budget, now, states, changed=changed)
    return max(partition, budget.partition), replicas


def _unbounded(budget: Budget, now: Rollout | None, states: Sequence[GroupState], *, changed: bool) -> tuple[int, int]:
    if now is None:
        return 0, budget.replicas
    growing = now.replicas < budget.replicas
    if changed:
        start = min(budget.replicas, now.replicas)
        return start, budget.replicas if growing else budget.wanted(budget.replicas)
    if now.partition == 0 and now.replicas == budget.replicas:
        return 0, budget.replicas
    if growing:
        return now.partition, budget.replicas
    unready = _unready(states, budget.replicas)
    if now.noted_replicas != budget.replicas:
        return min(now.partition, budget.replicas + budget.surge), budget.wanted(unready)
    step = budget.unavailable + now.replicas - budget.replicas
    return _partition(states, step, now.partition), budget.wanted(unready)


def _unready(states: Sequence[GroupState], replicas: int) -> int:
    done = sum(1 for state in states[:replicas] if state.ready and state.updated)
    return replicas - done


def _partition(states: Sequence[GroupState], step: int, current: int) -> int:
    """How far down the update may go now."""
    finished = 0
    for state in reversed(states):
        if not (state.ready and state.updated):
            break
        finished += 1
    lowest = max(len(states) - finished - step, 0)
    partition = lowest + sum(1 for state in states[:lowest] if not state.ready)
    for index in range(min(partition, len(states) - 1), lowest - 1, -1):
        if states[index].ready and not states[index].updated:
            break
        partition = index
    return min(partition, current)
