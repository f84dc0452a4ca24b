"""HyperNodes that Volcano can't make a tree of, or that are missing."""

from collections.abc import Iterator

from lws_volcano.api.names import NETWORK_TOPOLOGY_MODE
from lws_volcano.cli.checks.patient import Finding, Level, Patient
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.selectors import LabelIndex
from lws_volcano.topology.strangers import held_by, refused_patterns, shared, two_parents

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Finding]:
    """None at all, two parents, patterns that say nothing, overlapping leaves."""
    kinds = patient.cluster.kinds
    if not kinds.hyper_nodes.store.synced:
        return
    asking = sorted(lws.key for lws in kinds.lws.store if NETWORK_TOPOLOGY_MODE in lws.metadata.annotations)
    if not len(kinds.hyper_nodes.store):
        if asking:
            yield Finding(
                level=Level.ERROR,
                what=f"there is none, and {len(asking)} LeaderWorkerSets ask for network topology: it is ignored",
                where="HyperNodes",
                mend="apply a ClusterTopology (topology/README.md)",
            )
        return
    yield from _shared(patient)


def _shared(patient: Patient) -> Iterator[Finding]:
    kinds = patient.cluster.kinds
    index = LabelIndex({node.name: node.metadata.labels for node in kinds.nodes.store})
    found = sorted(kinds.hyper_nodes.store, key=lambda one: natural(one.name))
    twice = shared(held_by(found, index, kinds.hyper_nodes.store.names()))
    for one in two_parents(twice):
        yield Finding(level=Level.ERROR, what=one.what, where=one.where, mend=one.mend)
    for one in refused_patterns(found):
        yield Finding(level=Level.WARNING, what=one.what, where=one.where, mend=one.mend)
    nodes = sorted((name for kind, name in twice if kind == "Node"), key=natural)
    if nodes:
        holders = twice[("Node", nodes[0])]
        yield Finding(
            level=Level.WARNING,
            what=f"{len(nodes)} nodes are in two HyperNodes, such as {nodes[0]} in {' and '.join(holders[:2])}",
            where="HyperNodes",
            mend="have one writer of HyperNodes: remove those of the other (setting hyper_nodes: read uses theirs)",
        )
