"""Host ranges as Slurm and topology files write them: `n[001-016,020]`, `n[1-2]-ib[0-3]`.

Padding is part of the name: `n[8-11]` is n8, n9, n10, n11, while `n[098-101]` keeps three digits. Several brackets in
one name give their product, the last one turning fastest. Letters inside brackets, reversed ranges, empty elements and
lists longer than the limit are refused, the last before any name is made.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lws_volcano.api.errors import TopologyError

__all__ = ["LIMIT", "compress", "expand", "expand_all", "natural"]

LIMIT: Final = 100_000
"""Names that one expression may stand for."""

_SPAN: Final = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_PIECE: Final = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)|(.)", re.DOTALL)
_LAST_NUMBER: Final = re.compile(r"(.*?)([0-9]{1,18})([^0-9]*)", re.DOTALL)
_DIGITS: Final = re.compile(r"([0-9]+)")
_EXAMPLE: Final = "write host ranges such as gpu-[001-016,020]"


@dataclass(frozen=True, slots=True)
class _Span:
    low: int
    high: int
    width: int

    def __len__(self) -> int:
        return self.high - self.low + 1

    def __iter__(self) -> Iterator[str]:
        return (f"{number:0{self.width}d}" for number in range(self.low, self.high + 1))


_Part = Sequence[str] | Sequence[_Span]


def expand(expression: str, limit: int = LIMIT) -> list[str]:
    """Names that a comma separated host list stands for, in the order written, repeats kept.

    Raises
    ------
    TopologyError
        Not a host list, or more than `limit` names.

    Examples
    --------
    >>> expand("n[09-10]x,login1")
    ['n09x', 'n10x', 'login1']
    """
    names: list[str] = []
    for element in _elements(expression):
        parts = _parts(element, expression)
        count = math.prod(sum(len(span) if isinstance(span, _Span) else 1 for span in part) for part in parts)
        if len(names) + count > limit:
            raise TopologyError(
                f"{_short(expression)} stands for more than {limit} names",
                mend="split it, or check the range for a slip",
            )
        names.extend("".join(choice) for choice in itertools.product(*map(_values, parts)))
    return names


def expand_all(expressions: Iterable[str], limit: int = LIMIT) -> list[str]:
    """Names of several host lists together; the limit counts for all of them."""
    names: list[str] = []
    for expression in expressions:
        names.extend(expand(expression, limit - len(names)))
    return names


def _elements(expression: str) -> Iterator[str]:
    """Split at the commas that are outside brackets."""
    depth = start = 0
    for at, letter in enumerate(expression):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield _element(expression[start:at], expression)
            start = at + 1
    yield _element(expression[start:], expression)


def _element(text: str, expression: str) -> str:
    text = text.strip()
    if not text or any(letter.isspace() for letter in text):
        problem = "an empty element" if not text else "a blank inside a name"
        raise TopologyError(f"{_short(expression)} has {problem}", mend=_EXAMPLE)
    return text


def _parts(element: str, expression: str) -> list[_Part]:
    parts: list[_Part] = []
    for inside, plain, stray in _PIECE.findall(element):
        if stray:
            raise TopologyError(f"{_short(expression)} has unbalanced brackets", mend=_EXAMPLE)
        parts.append((plain,) if plain else [_span(text, expression) for text in inside.split(",")])
    return parts


def _span(text: str, expression: str) -> _Span:
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        problem = f"{_short(text)} in brackets" if text.strip() else "an empty element in brackets"
        raise TopologyError(f"{_short(expression)} has {problem}", mend=f"only numbers go there; {_EXAMPLE}")
    low, high = match[1], match[2] or match[1]
    if int(low) > int(high):
        raise TopologyError(
            f"{_short(expression)} has the reversed range {low}-{high}", mend="write the lower end first"
        )
    if high.startswith("0") and len(low) != len(high):
        raise TopologyError(
            f"{_short(expression)} pads the ends of {low}-{high} differently",
            mend="write both ends with the same number of digits",
        )
    return _Span(int(low), int(high), len(low) if low.startswith("0") else 0)


def _values(part: _Part) -> Iterator[str]:
    for piece in part:
        if isinstance(piece, _Span):
            yield from piece
        else:
            yield piece


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")  # noqa: PLR2004 - one line of a message


def natural(name: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Sort key that puts rack-2 before rack-10; equal only for equal names."""
    pieces = _DIGITS.split(name)
    return tuple(_number(piece) if at % 2 else (0, piece) for at, piece in enumerate(pieces)), name


def _number(digits: str) -> tuple[int, str]:
    """Sorts as the number does, however long it is."""
    value = digits.lstrip("0")
    return len(value), value


def compress(names: Iterable[str]) -> list[str]:
    """Host lists, one for each form of name, that `expand` to the same set of names; sorted.

    Examples
    --------
    >>> compress(["n9", "n8", "n11", "n10", "login", "g001", "g003"])
    ['g[001,003]', 'login', 'n[8-11]']
    """
    forms: dict[tuple[str, str], set[str]] = {}
    plain: set[str] = set()
    for name in names:
        match = _LAST_NUMBER.fullmatch(name)
        if match is None:
            plain.add(name)
        else:
            forms.setdefault((match[1], match[3]), set()).add(match[2])
    lists = [prefix + _bracket(numbers) + suffix for (prefix, suffix), numbers in forms.items()]
    return sorted([*plain, *lists], key=natural)


def _bracket(numbers: set[str]) -> str:
    if len(numbers) == 1:
        return next(iter(numbers))
    runs: list[list[str]] = []
    for number in sorted(numbers, key=lambda digits: (len(digits), digits)):
        if runs and _follows(runs[-1], number):
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return "[" + ",".join("-".join(run) for run in runs) + "]"


def _follows(run: list[str], number: str) -> bool:
    """`number` is the next after the run, and the run's first end keeps the padding right."""
    if int(number) != int(run[-1]) + 1:
        return False
    padded = run[0].startswith("0")
    return len(number) == len(run[0]) or not (padded or number.startswith("0"))
