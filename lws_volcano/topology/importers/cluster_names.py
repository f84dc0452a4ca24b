"""Names of an imported file against the nodes of the cluster: those that it has are kept, the rest is summed up.

The cluster's spelling counts; where it has no such node, the part before the first dot decides, as long as only one
node has it.
"""

from collections.abc import Sequence
from dataclasses import replace

from lws_volcano.topology.findings import Report, examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.importers.document import Placed
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels
from lws_volcano.topology.matching import NodeNames

__all__ = ["to_cluster"]


def to_cluster(domains: Sequence[Placed], nodes: NodeLabels | None, notes: Notes) -> list[Placed]:
    """The domains with node names as the cluster has them; as they are when the cluster is not known."""
    if nodes is None:
        return list(domains)
    names = NodeNames(nodes, strip_domain=True)
    kept: list[Placed] = []
    cut: list[str] = []
    for domain in domains:
        found = {name: names.find(name) for name in domain.nodes}
        cut.extend(name for name, host in found.items() if host not in (None, name))
        kept.append(replace(domain, nodes=tuple(dict.fromkeys(host for host in found.values() if host is not None))))
    report = Report()
    names.report_unknown(report)
    notes.findings.extend(report.findings)
    _say(kept, cut, nodes, notes)
    return kept


def _say(kept: Sequence[Placed], cut: Sequence[str], nodes: NodeLabels, notes: Notes) -> None:
    if cut:
        notes.warn(f"{len(cut)} names matched a node by the part before the first dot: {examples(cut)}")
    unplaced = sorted(nodes.keys() - {node for domain in kept for node in domain.nodes}, key=natural)
    if unplaced:
        notes.warn(
            f"{len(unplaced)} nodes of the cluster are in no domain: {examples(unplaced)}",
            mend="they are used last, and count as close to no other node",
        )
