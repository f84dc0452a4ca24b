"""A cabled fabric as an importer found it, to the document: switches to ignore, nodes that count, the tree of units."""

from lws_volcano.topology.findings import examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.importers.bandwidths import of_units, rated
from lws_volcano.topology.importers.document import Imported, topology_document
from lws_volcano.topology.importers.fabric import Fabric, locality_units
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels, Source
from lws_volcano.topology.matching import NodeNames

__all__ = ["imported"]


def imported(fabric: Fabric, source: Source, notes: Notes, name: str) -> Imported:
    """The document of a fabric.

    With the nodes of the cluster given, hosts that it does not have (storage servers, fabric managers) don't count.
    """
    fabric = _without_switches(fabric, source.ignore, notes)
    if source.nodes is not None:
        fabric = _of_cluster(fabric, source.nodes, notes)
    units = locality_units(fabric, notes)
    tiers = rated(of_units(fabric, units))
    document = topology_document(source.topology_name or name, units.domains, notes, tiers)
    return Imported(document, notes.settle())


def _without_switches(fabric: Fabric, ignore: frozenset[str], notes: Notes) -> Fabric:
    unknown = sorted(ignore - fabric.links.keys(), key=natural)
    if unknown:
        notes.warn(f"nothing to ignore: no switch is named {examples(unknown)}", mend="check the names")
    kept = Fabric()
    for node, switches in fabric.attached.items():
        for switch in switches - ignore:
            kept.attach(node, switch, fabric.rate(node, switch))
    _keep_links(fabric, kept, ignore)
    lost = sorted(fabric.attached.keys() - kept.attached.keys(), key=natural)
    if lost:
        notes.warn(f"{len(lost)} nodes hang on ignored switches only and are left out: {examples(lost)}")
    return kept


def _keep_links(fabric: Fabric, kept: Fabric, ignore: frozenset[str] = frozenset()) -> None:
    for switch in fabric.links.keys() - ignore:
        kept.links.setdefault(switch, set())
    for one, other, rate in fabric.trunks():
        if one not in ignore and other not in ignore:
            kept.link(one, other, rate)


def _of_cluster(fabric: Fabric, nodes: NodeLabels, notes: Notes) -> Fabric:
    names = NodeNames(nodes, strip_domain=True)
    kept = Fabric()
    _keep_links(fabric, kept)
    strange: list[str] = []
    for host, switches in fabric.attached.items():
        node = names.find(host)
        if node is None:
            strange.append(host)
            continue
        for switch in switches:
            kept.attach(node, switch, fabric.rate(host, switch))
    if strange:
        strange.sort(key=natural)
        notes.warn(f"{len(strange)} hosts are no nodes of the cluster and don't count: {examples(strange)}")
    absent = sorted(nodes.keys() - kept.attached.keys(), key=natural)
    if absent:
        notes.warn(
            f"{len(absent)} nodes of the cluster are on no switch: {examples(absent)}",
            mend="they are used last, and count as close to no other node",
        )
    return kept
