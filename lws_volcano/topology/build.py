"""From a ClusterTopology document and the nodes of a cluster to a `Topology`."""

from collections.abc import Iterable, Mapping

from lws_volcano.api.cluster import Node
from lws_volcano.topology.arrange import Layout, arrange
from lws_volcano.topology.drafts import Draft, read_domains
from lws_volcano.topology.findings import Origin, Report, unplaced_finding
from lws_volcano.topology.forest import drop_ignored, find_homes, link
from lws_volcano.topology.labels import read_labels
from lws_volcano.topology.matching import NodeNames
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology, NodeSelector, TopologySpec
from lws_volcano.topology.selectors import LabelIndex
from lws_volcano.topology.tiers import TierTable, read_tiers

__all__ = ["build"]


def build(
    document: ClusterTopology,
    nodes: Iterable[Node] | None = None,
    *,
    keep_going: bool = False,
    origin: Origin | None = None,
) -> Topology:
    """The topology of a cluster.

    Parameters
    ----------
    document
        What is written about the network.
    nodes
        Nodes of the cluster; None when there is no cluster to compare with: every name counts then, and nothing can be
        selected by label.
    keep_going
        Survive errors: leave out what is faulty, keep the rest, and have the errors in `Topology.warnings`.
    origin
        Where the document comes from, for the findings.

    Raises
    ------
    InvalidTopologyError
        The document is not a set of strict trees, and `keep_going` was not given.

    Notes
    -----
    O(n log n) in nodes and domains. The result depends on the content only, not on the order of nodes or of domains.
    """
    report = Report(origin or Origin(f"ClusterTopology {document.name}".strip()))
    spec = document.spec
    labels = None if nodes is None else {node.name: node.metadata.labels for node in nodes}
    names = NodeNames(labels, strip_domain=spec.strip_domain)
    tiers = read_tiers(spec, report)
    index = None if labels is None else LabelIndex(labels)
    drafts = _drafts(spec, tiers, index, report)
    link(drafts, report)
    heirs = drop_ignored(spec, drafts, report)
    homes = find_homes(spec, drafts, heirs, names, report)
    names.report_unknown(report)
    unplaced = names.unplaced(homes)
    _warn_outside(len(homes), unplaced, report)
    if not keep_going:
        report.raise_errors()
    layout = arrange(document.name, drafts, homes)
    return Topology(
        name=document.name,
        tiers=tiers.tiers,
        domains=tuple(layout.domains),
        nodes=tuple(layout.nodes),
        domain_of=tuple(layout.domain_of),
        tier_of=tuple(layout.tier_of),
        unplaced=unplaced,
        across_bandwidth=tiers.across,
        selectors=_selectors(layout, drafts, index),
        warnings=tuple(report.findings),
    )


def _drafts(spec: TopologySpec, tiers: TierTable, index: LabelIndex | None, report: Report) -> dict[str, Draft]:
    drafts = read_domains(spec, tiers, index, report)
    if not spec.node_labels:
        return drafts
    if spec.domains:
        what = "a document has either domains or nodeLabels"
        report.error(what, ("spec", "nodeLabels"), mend="make two documents of it, or use nodeSelector in the domains")
        return drafts
    if index is None:
        what = "domains come from the labels of nodes, and no nodes are known"
        report.warn(what, ("spec", "nodeLabels"), mend="give the nodes too (--nodes, or a cluster)")
    return read_labels(spec, tiers, index.labels if index else {}, report)


def _selectors(layout: Layout, drafts: Mapping[str, Draft], index: LabelIndex | None) -> dict[int, NodeSelector]:
    """Label selectors that say the same as the list of nodes straight in the domain."""
    found: dict[int, NodeSelector] = {}
    if index is None:
        return found
    attached: dict[int, set[str]] = {}
    for node, at in zip(layout.nodes, layout.domain_of, strict=True):
        attached.setdefault(at, set()).add(node)
    for at, nodes in attached.items():
        selector = drafts[layout.domains[at].name].selector
        if selector is not None and set(index.select(selector)) == nodes:
            found[at] = selector
    return found


def _warn_outside(placed: int, unplaced: tuple[str, ...], report: Report) -> None:
    if unplaced:
        report.findings.append(unplaced_finding(unplaced, report.origin.where(())))
    if not placed:
        report.warn("the topology is empty: no node is in a domain", mend="placement goes on without it")
