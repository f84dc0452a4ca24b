"""HyperNodes that Volcano can't make a tree of, or that are missing."""

from collections import defaultdict
from collections.abc import Iterator

from lws_volcano.api.names import NETWORK_TOPOLOGY_MODE
from lws_volcano.cli.checks.patient import Finding, Level, Patient
from lws_volcano.topology.membership import holds
from lws_volcano.topology.selectors import LabelIndex

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Finding]:
    """None at all, two parents, overlapping leaves."""
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
    names = kinds.hyper_nodes.store.names()
    parents: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in kinds.hyper_nodes.store:
        for member in holds(one, index, names):
            parents[member].append(one.name)
    twice = {member: sorted(found) for member, found in parents.items() if len(found) > 1}
    for (kind, name), found in sorted(twice.items()):
        if kind == "HyperNode":
            yield Finding(
                level=Level.ERROR,
                what=f"has {len(found)} parents, {', '.join(found)}: groups with a topology wait, nobody says why",
                where=f"HyperNode {name}",
                mend="take it out of all but one",
            )
    nodes = sorted(name for kind, name in twice if kind == "Node")
    if nodes:
        found = twice[("Node", nodes[0])]
        yield Finding(
            level=Level.WARNING,
            what=f"{len(nodes)} nodes are in two HyperNodes, such as {nodes[0]} in {' and '.join(found[:2])}",
            where="HyperNodes",
            mend="have one writer of HyperNodes: remove those of the other (setting hyper_nodes: read uses theirs)",
        )
