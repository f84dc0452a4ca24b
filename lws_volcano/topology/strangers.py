"""HyperNodes of others beside ours: what they share, what makes them no tree, what of them cannot be read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.api.names import NETWORK_TOPOLOGY_SOURCE
from lws_volcano.api.volcano import HyperNode
from lws_volcano.topology.findings import Finding, Severity, examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.hypernodes import DesiredHyperNode, Member
from lws_volcano.topology.membership import holds
from lws_volcano.topology.patterns import matching
from lws_volcano.topology.selectors import LabelIndex

__all__ = ["TWO_PARENTS", "Held", "concerns", "held_by", "refused_patterns", "shared", "two_parents"]

TWO_PARENTS: Final = "two-parents"
"""What findings about a HyperNode with several parents are about (`Finding.about`)."""

Held = Mapping[str, frozenset[Member]]
"""Name of a HyperNode -> what it holds directly."""


def concerns(
    foreign: Iterable[HyperNode], desired: Iterable[DesiredHyperNode], index: LabelIndex | None = None
) -> list[Finding]:
    """All that is to be said of somebody else's HyperNodes, what stops groups first."""
    strangers = sorted(foreign, key=lambda hypernode: natural(hypernode.name))
    if not strangers:
        return []
    ours = {one.name: frozenset(one.members) for one in desired}
    theirs = held_by(strangers, index, (*ours, *(one.name for one in strangers)))
    return [*two_parents(shared({**theirs, **ours})), *refused_patterns(strangers), *_overlaps(strangers, theirs, ours)]


def held_by(hypernodes: Iterable[HyperNode], index: LabelIndex | None, names: Iterable[str]) -> Held:
    """What each of them holds directly; `names` are those of all HyperNodes, which a pattern may match."""
    listed = sorted(names)
    return {one.name: holds(one, index, listed) for one in hypernodes}


def shared(held: Held) -> dict[Member, list[str]]:
    """Nodes and HyperNodes that more than one HyperNode holds directly, with the names of those; linear in members."""
    parents: dict[Member, list[str]] = defaultdict(list)
    for name, members in held.items():
        for member in members:
            parents[member].append(name)
    return {member: sorted(names, key=natural) for member, names in parents.items() if len(names) > 1}


def two_parents(twice: Mapping[Member, list[str]]) -> list[Finding]:
    """One finding for each HyperNode among what is shared; that nodes are in two is tolerated by Volcano."""
    torn = sorted((natural(name), name, parents) for (kind, name), parents in twice.items() if kind == "HyperNode")
    return [
        Finding(
            severity=Severity.WARNING,
            what=f"has {len(parents)} parents, {examples(parents)}: groups with a topology wait, nobody says why",
            where=f"HyperNode {name}",
            mend="take it out of all but one",
            about=TWO_PARENTS,
        )
        for _, name, parents in torn
    ]


def refused_patterns(hypernodes: Iterable[HyperNode]) -> list[Finding]:
    """One warning for each regular expression that can't be used."""
    found: list[Finding] = []
    for hypernode in hypernodes:
        for member in hypernode.spec.members:
            try:
                matching((member.selector.regex_match or {}).get("pattern", ""), ())
            except TopologyError as error:
                what, where = f"{error.what}; it is taken to match nothing", f"HyperNode {hypernode.name}"
                found.append(Finding(severity=Severity.WARNING, what=what, where=where, mend=error.mend))
    return found


def _overlaps(strangers: Iterable[HyperNode], theirs: Held, ours: Held) -> list[Finding]:
    """One warning for each HyperNode of somebody else that holds nodes, or HyperNodes, which ours hold too."""
    known = {member for members in ours.values() for member in members} | {("HyperNode", name) for name in ours}
    found: list[Finding] = []
    for hypernode in strangers:
        both = sorted((member for member in theirs[hypernode.name] if member in known), key=lambda m: natural(m[1]))
        if both:
            source = hypernode.metadata.labels.get(NETWORK_TOPOLOGY_SOURCE, "")
            by = f" (written by {source})" if source else ""
            what = f"holds {len(both)} members that ours hold too: {examples(name for _, name in both)}"
            found.append(
                Finding(
                    severity=Severity.WARNING,
                    what=f"{what}{by}",
                    where=f"HyperNode {hypernode.name}",
                    mend="have one writer: delete it, or have its HyperNodes read instead of writing our own",
                )
            )
    return found
