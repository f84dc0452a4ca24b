"""HyperNodes as a tree of node sets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deploy.local.scheduler_stand_in.model import NodeRoom
from deploy.local.scheduler_stand_in.selectors import labels_match

__all__ = ["Domain", "Tree"]

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Domain:
    """A HyperNode with all nodes below it."""

    name: str
    tier: int
    tier_name: str
    nodes: frozenset[str]


class Tree:
    """The HyperNodes of a session.

    Attributes
    ----------
    domains : tuple of Domain
        Lowest tier first.
    malformed : bool
        One has two parents or is below itself; then no group with a topology is scheduled.
    """

    def __init__(self, hyper_nodes: Sequence[Json], nodes: Mapping[str, NodeRoom]) -> None:
        self._raw = {one["metadata"]["name"]: one for one in hyper_nodes}
        self._nodes = nodes
        self._children = {name: self._members(one, "HyperNode", self._raw) for name, one in self._raw.items()}
        self.malformed = self._is_malformed()
        self.domains = () if self.malformed else self._domains()

    def up_to(self, topology: Json) -> list[list[Domain]]:
        """Domains tier by tier, closest first, as far as the constraint allows; an unknown tier name allows all."""
        highest = topology.get("highestTierAllowed")
        if highest is None and topology.get("highestTierName"):
            named = [one.tier for one in self.domains if one.tier_name == topology["highestTierName"]]
            highest = named[0] if named else None
        allowed = [one for one in self.domains if highest is None or one.tier <= highest]
        tiers = sorted({one.tier for one in allowed})
        return [[one for one in allowed if one.tier == tier] for tier in tiers]

    def _domains(self) -> tuple[Domain, ...]:
        found = [
            Domain(name, int(one["spec"]["tier"]), one["spec"].get("tierName", ""), self._below(name))
            for name, one in self._raw.items()
        ]
        return tuple(sorted(found, key=lambda one: (one.tier, one.name)))

    def _below(self, name: str) -> frozenset[str]:
        own = self._members(self._raw[name], "Node", self._nodes)
        return frozenset(own).union(*(self._below(child) for child in self._children[name]))

    def _members(self, one: Json, kind: str, among: Mapping[str, Any]) -> set[str]:
        found: set[str] = set()
        for member in one["spec"].get("members") or ():
            if member["type"] == kind:
                found |= _selected(member.get("selector") or {}, among)
        return found

    def _is_malformed(self) -> bool:
        parents: dict[str, int] = {}
        for children in self._children.values():
            for child in children:
                parents[child] = parents.get(child, 0) + 1
        return any(count > 1 for count in parents.values()) or any(self._climbs(name) for name in self._raw)

    def _climbs(self, start: str) -> bool:
        """It is reached again from itself."""
        seen: set[str] = set()
        todo = list(self._children[start])
        while todo:
            name = todo.pop()
            if name == start:
                return True
            if name not in seen:
                seen.add(name)
                todo += self._children[name]
        return False


def _selected(selector: Json, among: Mapping[str, Any]) -> set[str]:
    if exact := selector.get("exactMatch"):
        return {exact["name"]} & among.keys()
    if pattern := selector.get("regexMatch"):
        return {name for name in among if re.match(pattern["pattern"], name)}
    if labels := selector.get("labelMatch"):
        return {name for name, one in among.items() if labels_match(labels, getattr(one, "labels", {}))}
    return set()
