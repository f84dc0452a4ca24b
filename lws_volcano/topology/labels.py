"""Domains from labels on nodes.

A domain is the path of its values from the outermost level down, so that two racks `r1` under two spines stay two.
No information is not a domain: a node without a value at the closest level is attached further up, a node without any
value stays unplaced, and no two nodes are ever called close because both say nothing.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lws_volcano.topology.drafts import Draft
from lws_volcano.topology.findings import FieldPath, Report, examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.model import Tier
from lws_volcano.topology.schema import LevelSpec, NodeSelector, TopologySpec
from lws_volcano.topology.tiers import TierTable

__all__ = ["read_labels"]

_Path = tuple[tuple[int, str], ...]
"""(tier number, value) from the outermost level inwards."""


@dataclass(frozen=True, slots=True)
class _Level:
    tier: Tier
    key: str
    silent: frozenset[str]
    path: FieldPath


@dataclass(slots=True)
class _Gaps:
    """Nodes by what they do not say at one level."""

    missing: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    def note(self, name: str, value: str | None) -> None:
        kind = self.missing if value is None else self.silent if value.strip() else self.empty
        kind.append(name)


def read_labels(
    spec: TopologySpec, tiers: TierTable, labels: Mapping[str, Mapping[str, str]], report: Report
) -> dict[str, Draft]:
    """Drafts by name; `labels` maps node name to its labels."""
    levels = _levels(spec.node_labels, tiers, report)
    gaps: list[_Gaps] = [_Gaps() for _ in levels]
    homes: dict[_Path, list[str]] = {}
    for name, own in labels.items():
        path = _path(name, own, levels, gaps)
        homes.setdefault(path, []).append(name)
    homes.pop((), None)
    for level, gap in zip(levels, gaps, strict=True):
        _warn(level, gap, len(labels), report)
    return _drafts(homes, levels)


def _levels(entries: Sequence[LevelSpec], tiers: TierTable, report: Report) -> list[_Level]:
    """Levels from the outermost inwards."""
    levels: dict[int, _Level] = {}
    for at, entry in enumerate(entries):
        path: FieldPath = ("spec", "nodeLabels", at)
        tier = tiers.find(entry.tier)
        if tier is None:
            mend = f"add it to spec.tiers, or use one of: {tiers.known()}"
            report.error(f"label {entry.key!r} is for the unknown tier {entry.tier!r}", path, mend=mend)
        elif tier.number in levels:
            what = f"labels {levels[tier.number].key!r} and {entry.key!r} are both for tier {tier.name!r}"
            report.error(what, path, mend="give each tier one label")
        else:
            silent = frozenset(value.strip().lower() for value in entry.ignore_values)
            levels[tier.number] = _Level(tier, entry.key, silent, path)
    return [levels[number] for number in sorted(levels, reverse=True)]


def _path(name: str, own: Mapping[str, str], levels: Iterable[_Level], gaps: Iterable[_Gaps]) -> _Path:
    path: list[tuple[int, str]] = []
    for level, gap in zip(levels, gaps, strict=True):
        value = own.get(level.key)
        if value is None or not value.strip() or value.strip().lower() in level.silent:
            gap.note(name, value)
        else:
            path.append((level.tier.number, value))
    return tuple(path)


def _warn(level: _Level, gaps: _Gaps, nodes: int, report: Report) -> None:
    kinds = (("no label", gaps.missing), ("an empty label", gaps.empty), ("a label that says nothing", gaps.silent))
    for words, names in kinds:
        if names:
            names.sort(key=natural)
            what = f"{len(names)} of {nodes} nodes have {words} {level.key!r}: {examples(names)}"
            mend = f"they are in no {level.tier.name}; label them if they should be"
            report.warn(what, level.path, mend=mend)


def _drafts(homes: Mapping[_Path, list[str]], levels: Sequence[_Level]) -> dict[str, Draft]:
    tiers = {level.tier.number: level for level in levels}
    paths = dict.fromkeys(path[:length] for path in homes for length in range(1, len(path) + 1))
    names = _names(paths)
    drafts: dict[str, Draft] = {}
    for path in paths:
        level = tiers[path[-1][0]]
        parent = names[path[:-1]] if len(path) > 1 else None
        draft = Draft(names[path], level.tier, parent, path=level.path)
        draft.selected = homes.get(path, [])
        values = {tiers[number].key: value for number, value in reversed(path)}
        draft.selector = NodeSelector(match_labels=values)
        drafts[draft.name] = draft
    return drafts


def _names(paths: Iterable[_Path]) -> dict[_Path, str]:
    """Values joined with dots; where two paths would read the same (values may hold dots), each gets its own mark."""
    plain = {path: ".".join(value for _, value in path) for path in paths}
    count = Counter(plain.values())
    return {path: name if count[name] == 1 else f"{name}-{_mark(path)}" for path, name in plain.items()}


def _mark(path: _Path) -> str:
    return hashlib.sha256(json.dumps(path).encode()).hexdigest()[:8]
