"""Where a further label belongs among levels that are known: below, between or above them, or nowhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels

__all__ = ["nest", "speaking"]

_SILENT: Final = "unknown"


def speaking(value: str | None) -> bool:
    """The value says something; no information is no domain."""
    return bool(value and value.strip()) and value is not None and value.strip().casefold() != _SILENT


def nest(keys: Sequence[str], key: str, nodes: NodeLabels, notes: Notes) -> list[str]:
    """`keys`, closest first, with `key` where its domains fit, or as they are when it adds nothing or fits nowhere."""
    pairs = [(labels[key], _path(keys, labels)) for name, labels in nodes.items() if speaking(labels.get(key))]
    inside = [_refines((value, path[at:]) for value, path in pairs if path[at]) for at in range(len(keys))]
    around = [_refines((path[at:], value) for value, path in pairs if path[at]) for at in range(len(keys))]
    if any(within and without for within, without in zip(inside, around, strict=True)):
        return list(keys)
    for at in range(len(keys) + 1):
        if all(inside[at:]) and all(around[:at]):
            return [*keys[:at], key, *keys[at:]]
    notes.warn(f"the domains of {key} cut across those of the other labels and are left out")
    return list(keys)


def _path(keys: Sequence[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(labels.get(key, "") if speaking(labels.get(key)) else "" for key in keys)


def _refines(pairs: Iterable[tuple[object, object]]) -> bool:
    """Each first has one second only."""
    seen: dict[object, object] = {}
    return all(seen.setdefault(fine, coarse) == coarse for fine, coarse in pairs)
