"""Regular expressions in HyperNodes of others: those of Go, which match anywhere in a name.

RE2 reads the same language and takes linear time whatever is asked of it; Python's `re` does neither.
"""

from collections.abc import Iterable
from typing import Any, Final

import re2

from lws_volcano.api.errors import TopologyError

__all__ = ["matching"]

_SHOWN: Final = 80


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Names in which the pattern is found, in their order; the empty pattern is found in none.

    Raises
    ------
    TopologyError
        Not a pattern that RE2 takes: wrong, or one that needs too much memory.
    """
    expression = _compiled(pattern)
    return [name for name in names if expression.search(name)] if pattern else []


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except (re2.error, UnicodeEncodeError) as problem:
        raise TopologyError(
            f"{pattern[:_SHOWN]!r} is no regular expression: {_reason(problem)}",
            mend="correct the pattern, or name the members (exactMatch)",
        ) from None


def _reason(problem: Exception) -> str:
    reason = str(problem) if isinstance(problem, UnicodeEncodeError) else problem.args[0] if problem.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
