"""What a document says about domains, before anything is checked across them.

Two sources: the `domains` list, and labels on nodes (`labels`). A faulty entry is reported and left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import FieldPath, Report
from lws_volcano.topology.hostlist import expand
from lws_volcano.topology.model import Tier
from lws_volcano.topology.schema import DomainSpec, NodeSelector, TopologySpec
from lws_volcano.topology.selectors import LabelIndex
from lws_volcano.topology.tiers import TierTable

__all__ = ["MAX_NODES", "Draft", "read_domains", "read_names"]

MAX_NODES: Final = 1_000_000
"""Node names in one document."""


@dataclass(slots=True)
class Draft:
    """A domain as it was written.

    Attributes
    ----------
    nodes
        Names as the document spells them.
    selected
        Nodes of the cluster found by their labels.
    selector
        The labels by which they were found, or could be.
    """

    name: str
    tier: Tier
    parent: str | None = None
    nodes: list[str] = field(default_factory=list)
    selected: list[str] = field(default_factory=list)
    selector: NodeSelector | None = None
    path: FieldPath = ()


def read_domains(spec: TopologySpec, tiers: TierTable, index: LabelIndex | None, report: Report) -> dict[str, Draft]:
    """Drafts of the `domains` list by name; `index` None means that no nodes are known to select from."""
    drafts: dict[str, Draft] = {}
    repeated = _repeated(spec.domains, report)
    room = MAX_NODES
    for at, entry in enumerate(spec.domains):
        path: FieldPath = ("spec", "domains", at)
        tier = _tier(entry, tiers, path, report)
        nodes = read_names(entry.nodes, (*path, "nodes"), report, domain=entry.name, limit=room)
        if tier is None or nodes is None or entry.name in repeated:
            continue
        room -= len(nodes)
        selected = _select(entry, index, path, report)
        drafts[entry.name] = Draft(entry.name, tier, entry.parent, nodes, selected, entry.node_selector, path)
    return drafts


def read_names(
    lists: Iterable[str], path: FieldPath, report: Report, *, domain: str = "", limit: int = MAX_NODES
) -> list[str] | None:
    """Node names of host lists, None (and a finding) when one of them cannot be read."""
    names: list[str] = []
    for at, expression in enumerate(lists):
        try:
            names.extend(expand(expression) if "[" in expression or "," in expression else [_plain(expression)])
        except TopologyError as error:
            report.error(error.what, (*path, at), domain=domain, mend=error.mend)
            return None
        if len(names) > limit:
            what = f"the document names more than {MAX_NODES} nodes"
            report.error(what, (*path, at), domain=domain, mend="check the host ranges for a slip")
            return None
    return names


def _plain(name: str) -> str:
    """A name without ranges is the common case; let `expand` judge only the odd ones."""
    return name if name and not any(map(str.isspace, name)) and "]" not in name else expand(name)[0]


def _repeated(domains: Iterable[DomainSpec], report: Report) -> set[str]:
    """Names that several entries claim: which one is right, nobody can say, so none is used."""
    first: dict[str, int] = {}
    repeated: set[str] = set()
    for at, entry in enumerate(domains):
        if entry.name not in first:
            first[entry.name] = at
            continue
        repeated.add(entry.name)
        before = report.origin.where(("spec", "domains", first[entry.name]))
        report.error(
            f"domain {entry.name!r} is defined twice, before at {before}",
            ("spec", "domains", at),
            domain=entry.name,
            mend="give each domain a name of its own, or put its nodes into one entry",
        )
    return repeated


def _tier(entry: DomainSpec, tiers: TierTable, path: FieldPath, report: Report) -> Tier | None:
    tier = tiers.find(entry.tier)
    if tier is None:
        report.error(
            f"domain {entry.name!r} has the unknown tier {entry.tier!r}",
            (*path, "tier"),
            domain=entry.name,
            mend=f"add it to spec.tiers, or use one of: {tiers.known()}",
        )
    return tier


def _select(entry: DomainSpec, index: LabelIndex | None, path: FieldPath, report: Report) -> list[str]:
    if entry.node_selector is None:
        return []
    if index is None:
        what = f"domain {entry.name!r} selects nodes by label, and no nodes are known"
        report.warn(what, (*path, "nodeSelector"), domain=entry.name, mend="give the nodes too (--nodes, or a cluster)")
        return []
    selected = index.select(entry.node_selector)
    if not selected:
        what = f"the nodeSelector of domain {entry.name!r} matches no node"
        report.warn(what, (*path, "nodeSelector"), domain=entry.name, mend="check the label and its values")
    return selected
