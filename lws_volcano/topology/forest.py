"""From drafts to strict trees: parents that exist and are further out, no cycles, and one home for each node.

What is left after an error never calls two nodes closer than the document does: a domain loses its parent, or is left
out together with what it says, and a node that two domains claim gets no home at all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import networkx as nx

from lws_volcano.topology.drafts import Draft, read_names
from lws_volcano.topology.findings import FieldPath, Report, examples
from lws_volcano.topology.matching import NodeNames
from lws_volcano.topology.schema import Override, TopologySpec

__all__ = ["Homes", "drop_ignored", "find_homes", "link"]

Homes = dict[str, str]
"""Node -> name of its lowest domain."""


def link(drafts: dict[str, Draft], report: Report) -> None:
    """Make `parent` of every draft a domain of a higher tier, or None; drafts on a cycle are removed."""
    for draft in drafts.values():
        if draft.parent is not None and draft.parent not in drafts:
            what = f"domain {draft.name!r} has the parent {draft.parent!r}, which is not a (sound) domain"
            path = (*draft.path, "parent")
            report.error(what, path, domain=draft.name, mend="define it, correct the name, or leave parent out")
            draft.parent = None
    _remove_cycles(drafts, report)
    for draft in drafts.values():
        parent = drafts.get(draft.parent or "")
        if parent is not None and parent.tier.number <= draft.tier.number:
            report.error(
                f"domain {draft.name!r} of tier {draft.tier.name} ({draft.tier.number}) has the parent {parent.name!r} "
                f"of tier {parent.tier.name} ({parent.tier.number})",
                (*draft.path, "parent"),
                domain=draft.name,
                mend="a parent is of a higher tier than its children",
            )
            draft.parent = None


def _remove_cycles(drafts: dict[str, Draft], report: Report) -> None:
    """Each domain has at most one parent, so every cycle is a strongly connected component of its own."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(drafts)
    graph.add_edges_from((draft.name, draft.parent) for draft in drafts.values() if draft.parent is not None)
    cyclic = [
        found for found in nx.strongly_connected_components(graph) if len(found) > 1 or graph.has_edge(*list(found) * 2)
    ]
    gone: set[str] = set()
    for found in cyclic:
        start = min(found)
        round_trip = [start]
        while (following := drafts[round_trip[-1]].parent) not in {None, start}:
            round_trip.append(str(following))
        what = "domains go round in a circle: " + " -> ".join(_shown([*round_trip, start]))
        report.error(what, (*drafts[start].path, "parent"), domain=start, mend="the outermost domain has no parent")
        gone |= found
    for name in gone:
        del drafts[name]
    for draft in drafts.values():
        draft.parent = None if draft.parent in gone else draft.parent


def _shown(names: list[str], most: int = 12) -> list[str]:
    return names if len(names) <= most else [*names[: most - 2], "...", names[-1]]


def drop_ignored(spec: TopologySpec, drafts: dict[str, Draft], report: Report) -> dict[str, str | None]:
    """Take ignored domains out; their children go to their parent.

    Returns
    -------
    dict
        Ignored node-bearing domain -> the domain above that takes those of its nodes that no other domain names.
    """
    ignored = {name for name in spec.ignore if name in drafts}
    for at, name in enumerate(spec.ignore):
        if name not in drafts:
            report.warn(f"there is no domain {name!r} to ignore", ("spec", "ignore", at), mend="take it off the list")

    def above(name: str | None) -> str | None:
        while name in ignored:
            name = drafts[name].parent
        return name

    heirs = {name: above(name) for name in ignored}
    for draft in drafts.values():
        draft.parent = above(draft.parent)
    return heirs


@dataclass(slots=True)
class _Claims:
    """Who wants which node."""

    drafts: Mapping[str, Draft]
    homes: Homes
    disputed: dict[str, set[str]]

    def add(self, node: str, name: str) -> None:
        """The lower of two domains on one branch wins; two branches are a dispute."""
        held = self.homes.get(node)
        if held is None:
            self.homes[node] = name
        elif held != name and not self._above(name, held):
            self.homes[node] = name
            if not self._above(held, name):
                self.disputed.setdefault(node, {held}).add(name)

    def inherit(self, node: str, name: str) -> None:
        """A claim that holds only where it contradicts no other."""
        held = self.homes.get(node)
        if held is None or self._above(held, name):
            self.homes[node] = name

    def _above(self, upper: str, lower: str) -> bool:
        name: str | None = lower
        while name is not None:
            if name == upper:
                return True
            name = self.drafts[name].parent
        return False


def find_homes(
    spec: TopologySpec, drafts: dict[str, Draft], heirs: Mapping[str, str | None], names: NodeNames, report: Report
) -> Homes:
    """The lowest domain of each node; ignored domains (keys of `heirs`) are removed from `drafts`."""
    decided = _overrides(spec.overrides, drafts, heirs, names, report)
    claims = _Claims(drafts, {}, {})
    for draft in drafts.values():
        if draft.name not in heirs:
            for node in _nodes(draft, names):
                if node not in decided:
                    claims.add(node, draft.name)
    for name, heir in heirs.items():
        for node in _nodes(drafts[name], names):
            if heir is not None and node not in decided:
                claims.inherit(node, heir)
        del drafts[name]
    _report_disputes(claims, report)
    settled = {node: name for node, name in claims.homes.items() if node not in claims.disputed}
    return settled | {node: name for node, name in decided.items() if name is not None}


def _nodes(draft: Draft, names: NodeNames) -> Iterable[str]:
    for name in draft.nodes:
        node = names.find(name)
        if node is not None:
            yield node
    yield from draft.selected


def _overrides(
    overrides: Iterable[Override],
    drafts: Mapping[str, Draft],
    heirs: Mapping[str, str | None],
    names: NodeNames,
    report: Report,
) -> dict[str, str | None]:
    decided: dict[str, str | None] = {}
    for at, entry in enumerate(overrides):
        path: FieldPath = ("spec", "overrides", at)
        if entry.domain is not None and (entry.domain not in drafts or entry.domain in heirs):
            what = f"an override puts nodes into {entry.domain!r}, which is not a (sound) domain"
            report.error(what, (*path, "domain"), domain=entry.domain, mend="define the domain, or correct the name")
            continue
        for name in read_names(entry.nodes, (*path, "nodes"), report) or ():
            node = names.find(name)
            if node is not None:
                decided[node] = entry.domain
    return decided


def _report_disputes(claims: _Claims, report: Report) -> None:
    """One finding for each set of domains that claim the same nodes."""
    by_domains: dict[tuple[str, ...], list[str]] = {}
    for node, wanted in claims.disputed.items():
        by_domains.setdefault(tuple(sorted(wanted)), []).append(node)
    for claimants, nodes in by_domains.items():
        involved = [claims.drafts[name] for name in claimants]
        places = ", ".join(f"{draft.name} ({draft.tier.name})" for draft in involved)
        verb = "is" if len(nodes) == 1 else "are"
        report.error(
            f"{examples(nodes)} {verb} in {len(involved)} domains: {places}",
            (*involved[-1].path, "nodes"),
            domain=involved[0].name,
            mend="a node has one place in the network; take it out of all but one, or decide by spec.overrides",
        )
