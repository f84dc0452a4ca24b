"""Host lists of one file: errors with their line, and one limit for all of them together."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.hostlist import expand
from lws_volcano.topology.importers.notes import Notes

__all__ = ["TOTAL", "Hosts", "plain_name"]

TOTAL: Final = 150_000
"""Names that all host lists of a file may stand for."""

_PLAIN: Final = re.compile(r"[^\s,\[\]\x00-\x1f]{1,253}")


@dataclass(slots=True)
class Hosts:
    """Expands host lists until the file has used up its names."""

    notes: Notes
    left: int = TOTAL

    def expand(self, expression: str, where: str) -> tuple[str, ...] | None:
        """Names without repeats, in the order written; none after noting what is wrong.

        Raises
        ------
        TopologyError
            The lists of this file have come to more than `TOTAL` names; there is no point in going on.
        """
        if self.left <= 0:
            raise TopologyError(f"the host lists stand for more than {TOTAL} names", where, "split the file")
        try:
            names = expand(expression)
        except TopologyError as error:
            self.notes.refused(error, where)
            return None
        self.left -= len(names)
        wrong = next((name for name in names if not plain_name(name)), None)
        if wrong is not None:
            self.notes.error(f"{wrong[:60]!r} can't be the name of a node or switch", where, "correct the name")
            return None
        return tuple(dict.fromkeys(names))

    def expand_each(self, expressions: Iterable[str], where: str) -> tuple[str, ...] | None:
        """Names of several host lists; none when one of them is wrong."""
        names: dict[str, None] = {}
        sound = True
        for expression in expressions:
            expanded = self.expand(expression, where)
            sound = sound and expanded is not None
            names.update(dict.fromkeys(expanded or ()))
        return tuple(names) if sound else None


def plain_name(name: str) -> bool:
    """`name` can stand in a host list as it is."""
    return _PLAIN.fullmatch(name) is not None
