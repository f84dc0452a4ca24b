"""What a policy finds wrong with what a person wrote, and how much it costs them.

Policies return a `Problem` beside their result and never raise for bad input: one bad annotation must not hide another,
and must not take the rest of the group's PodGroup with it (CONTRACTS.md section 1).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from lws_volcano.api.names import Reason

__all__ = ["Cost", "Problem", "worst"]


class Cost(IntEnum):
    """What a problem prevents."""

    PART = 0
    """The PodGroup is written without the bad part."""
    CREATION = 1
    """A PodGroup that is not there yet has to wait; one that is there is kept up."""
    EVERYTHING = 2
    """Nothing is written for the group: half of it would break a promise."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that a person has to change; the message says what, where and how."""

    reason: Reason
    message: str
    cost: Cost = Cost.PART


def worst(problems: Iterable[Problem]) -> Problem | None:
    """The most expensive problem, the first of equals."""
    return max(problems, key=lambda problem: problem.cost, default=None)
