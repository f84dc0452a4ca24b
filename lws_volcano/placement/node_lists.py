"""Sequences of node names in a few bytes, for the annotation: a host list that keeps order and repeats.

Read back by `topology.hostlist.expand`, so people and Slurm's tools can read it too.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from lws_volcano.topology.hostlist import expand

__all__ = ["fold", "unfold"]

_DIGITS: Final = re.compile(r"([0-9]{1,18})")


class _Run:
    """Names that differ in one number at most. Their pieces: split at numbers, which stand at the odd indices."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self.at: int | None = None
        self.numbers: list[str] = []

    def takes(self, pieces: Sequence[str]) -> bool:
        """Add a name if it belongs to the run."""
        if len(pieces) != len(self.pieces) or len(pieces) == 1:
            return False
        differing = [at for at, (left, right) in enumerate(zip(self.pieces, pieces, strict=True)) if left != right]
        at = differing[0] if differing else self.at if self.at is not None else len(pieces) - 2
        if len(differing) > 1 or at % 2 == 0 or self.at not in {None, at}:
            return False
        if self.at is None:
            self.at, self.numbers = at, [self.pieces[at]]
        self.numbers.append(pieces[at])
        return True

    def __str__(self) -> str:
        if self.at is None:
            return "".join(self.pieces)
        return f"{''.join(self.pieces[: self.at])}[{_ranges(self.numbers)}]{''.join(self.pieces[self.at + 1 :])}"


def fold(names: Iterable[str]) -> str:
    """One host list for a sequence of node names.

    Examples
    --------
    >>> fold(["gpu-007", "gpu-008", "gpu-012", "ip-10-0-3-9.local", "ip-10-0-4-9.local", "login"])
    'gpu-[007-008,012],ip-10-0-[3-4]-9.local,login'
    >>> fold(["n1", "n1", "n2"])
    'n[1,1-2]'
    """
    runs: list[_Run] = []
    for name in names:
        pieces = _DIGITS.split(name)
        if not (runs and runs[-1].takes(pieces)):
            runs.append(_Run(pieces))
    return ",".join(map(str, runs))


def unfold(text: str) -> tuple[str, ...]:
    """The names, in order.

    Raises
    ------
    TopologyError
        Not a host list.
    """
    return tuple(expand(text)) if text else ()


def _ranges(numbers: Sequence[str]) -> str:
    spans: list[list[str]] = []
    for number in numbers:
        if spans and number == _next(spans[-1]):
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ",".join(map("-".join, spans))


def _next(span: Sequence[str]) -> str:
    """The number that continues a span: padded as its first one is."""
    width = len(span[0]) if span[0].startswith("0") else 0
    return f"{int(span[-1]) + 1:0{width}d}"
