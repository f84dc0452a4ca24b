"""Sequences of node names in a few bytes, for the annotation: a host list that keeps order and repeats.

Read back by `topology.hostlist.expand`, so people and Slurm's tools can read it too.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from lws_volcano.topology.hostlist import expand

__all__ = ["fold", "unfold"]

_DIGITS: Final = re.compile(r"([0-9]{1,18})")
_Pieces = Sequence[str]
"""A name split at its numbers, which stand at the odd indices."""


def fold(names: Iterable[str]) -> str:
    """One host list for a sequence of node names.

    Examples
    --------
    >>> fold(["gpu-007", "gpu-008", "gpu-012", "ip-10-0-3-9.local", "ip-10-0-4-9.local", "login"])
    'gpu-[007-008,012],ip-10-0-[3-4]-9.local,login'
    >>> fold(["n1", "n1", "n2"])
    'n[1,1-2]'
    """
    runs: list[list[_Pieces]] = []
    for name in names:
        pieces = _DIGITS.split(name)
        if runs and _varying([*runs[-1], pieces]) is not None:
            runs[-1].append(pieces)
        else:
            runs.append([pieces])
    return ",".join(map(_written, runs))


def unfold(text: str) -> tuple[str, ...]:
    """The names, in order.

    Raises
    ------
    TopologyError
        Not a host list.
    """
    return tuple(expand(text)) if text else ()


def _varying(run: Sequence[_Pieces]) -> int | None:
    """Index of the one number in which the names of a run differ (its last number when they are all the same)."""
    first = run[0]
    if any(len(pieces) != len(first) for pieces in run):
        return None
    found = {at for pieces in run for at, (left, right) in enumerate(zip(first, pieces, strict=True)) if left != right}
    if len(found) > 1 or any(at % 2 == 0 for at in found):
        return None
    return found.pop() if found else len(first) - 2 if len(first) > 1 else None


def _written(run: Sequence[_Pieces]) -> str:
    at = _varying(run) if len(run) > 1 else None
    if at is None:
        return "".join(run[0])
    spans = groupby(_starts([pieces[at] for pieces in run]), key=lambda entry: entry[0])
    inside = ",".join(_span([number for _, number in numbers]) for _, numbers in spans)
    return f"{''.join(run[0][:at])}[{inside}]{''.join(run[0][at + 1 :])}"


def _starts(numbers: Sequence[str]) -> list[tuple[int, str]]:
    """Each number with the index of the span it belongs to."""
    found: list[tuple[int, str]] = []
    start = 0
    for index, number in enumerate(numbers):
        width = len(numbers[start]) if numbers[start].startswith("0") else 0
        if index and number != f"{int(numbers[index - 1]) + 1:0{width}d}":
            start = index
        found.append((start, number))
    return found


def _span(numbers: Sequence[str]) -> str:
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
