"""From files, and from a cluster below them, to an inventory for the planner."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from lws_volcano.api.cluster import Namespace, Node, PriorityClass, RuntimeClass
from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, DisaggregatedSet, LeaderWorkerSet
from lws_volcano.cli.documents import VIEWS, Document, read_documents
from lws_volcano.cli.files import read_bytes, shown
from lws_volcano.mapping.disaggregated import children
from lws_volcano.mapping.inventory import DEFAULT_NAMESPACE, Inventory
from lws_volcano.mapping.snapshot import Capabilities
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind
from lws_volcano.topology.build import build
from lws_volcano.topology.file import Source, parse_document, parse_topologies
from lws_volcano.topology.importers.registry import import_topology
from lws_volcano.topology.importers.source import Source as ImportSource
from lws_volcano.topology.load import build_all
from lws_volcano.topology.model import Topology

__all__ = ["Inputs", "gather"]

TOPOLOGY: Final = "ClusterTopology"

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Inputs:
    """An inventory, and what was noticed on the way to it.

    `own_topology` is False where the topology was read from HyperNodes: those stay as they are.
    """

    inventory: Inventory
    own_topology: bool = True
    warnings: tuple[str, ...] = ()


def gather(
    paths: Sequence[str],
    topology_file: str | None,
    *,
    cluster: Cluster | None = None,
    settings: Settings | None = None,
    keep_going: bool = False,
) -> Inputs:
    """Read manifests in any mix, and a topology from a file of its own, on top of what a cluster holds.

    An object of the files takes the place of the cluster's of that name.

    Raises
    ------
    InputError
        Something can't be read; the message says what, where and how to mend it.
    """
    files = _Documents(read_documents(paths))
    there = (cluster or Cluster()).kinds
    nodes = _over(there.nodes, files.of(Node))
    topology, own = _topology(files, cluster, nodes, topology_file, keep_going=keep_going)
    sets = _over(there.lws, files.of(LeaderWorkerSet))
    inventory = Inventory(
        sets=(*sets, *(child for parent in files.of(DisaggregatedSet) for child in children(parent, sets))),
        nodes=nodes,
        pods=_over(there.pods, files.of(Pod)),
        revisions=_over(there.revisions, files.of(ControllerRevision)),
        pod_groups=_over(there.pod_groups, files.of(PodGroup)),
        namespaces=_named(there.namespaces, files.of(Namespace)) or {},
        queues=_named(there.queues, files.of(Queue)),
        priority_classes=_named(there.priority_classes, files.of(PriorityClass)),
        runtime_classes=_named(there.runtime_classes, files.of(RuntimeClass)),
        topology=topology,
        settings=settings or Settings(),
        capabilities=cluster.capabilities if cluster else Capabilities(),
    )
    return Inputs(inventory, own, files.warnings())


def _over(kind: Kind[T], given: Sequence[T]) -> tuple[T, ...]:
    """Objects of the cluster, oldest first, but those that are given again; then the given ones in their order."""
    again = {_identity(one) for one in given}
    return (*(one for one in sorted(kind.store, key=_age) if _identity(one) not in again), *given)


def _named(kind: Kind[T], given: Sequence[T]) -> Mapping[str, T] | None:
    """By name; None where nothing is known of the kind, so that nothing is concluded from an absence."""
    return {one.name: one for one in _over(kind, given)} or ({} if kind.store.synced else None)


def _identity(one: Object) -> tuple[str, str]:
    return one.namespace or DEFAULT_NAMESPACE, one.name


def _age(one: Object) -> tuple[str, str]:
    created = one.metadata.creation_timestamp
    return created.isoformat() if created else "", one.key


class _Documents:
    """Documents by kind, in their order; an object that comes again takes the place of the first."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._by_kind: dict[str, dict[str, Document]] = {}
        self._warnings: list[str] = []
        for document in documents:
            kept = self._by_kind.setdefault(document.kind, {})
            key = f"{(document.raw.get('metadata') or {}).get('namespace') or ''}/{document.name}"
            if key in kept:
                self._warnings.append(
                    f"{document.where}: {document.kind} {document.name} comes twice; the last one counts"
                )
            kept[key] = document

    def raw(self, kind: str) -> list[Document]:
        """The documents of a kind."""
        return list(self._by_kind.get(kind, {}).values())

    def of(self, view: type[T]) -> tuple[T, ...]:
        """The objects of a kind."""
        found = [document.view() for document in self.raw(view.__name__)]
        return tuple(one for one in found if isinstance(one, view))

    def warnings(self) -> tuple[str, ...]:
        """Twice given objects, and kinds that are passed over."""
        unknown = sorted(set(self._by_kind) - set(VIEWS) - {TOPOLOGY})
        passed = [f"passed over: {', '.join(unknown)}"] if unknown else []
        return (*self._warnings, *passed)


def _topology(
    files: _Documents, cluster: Cluster | None, nodes: Sequence[Node], file: str | None, *, keep_going: bool
) -> tuple[Topology | None, bool]:
    """The first there is, and whether its HyperNodes are ours to write.

    From --topology, ClusterTopologies of the files, HyperNodes of the files, ClusterTopologies of the cluster,
    HyperNodes of the cluster.
    """
    known = nodes or None
    if file is not None:
        sources = parse_topologies(read_bytes(file), shown(file), keep_going=keep_going)
        return build_all(sources, known, keep_going=keep_going), True
    given: list[Source] = [parse_document(one.raw, one.origin, keep_going=keep_going) for one in files.raw(TOPOLOGY)]
    if given:
        return build_all(given, known, keep_going=keep_going), True
    if files.raw("HyperNode"):
        return _of_hyper_nodes([one.raw for one in files.raw("HyperNode")], nodes), False
    if cluster is None or cluster.topology is not None:
        return (cluster.topology if cluster else None), True
    found = [{**one.manifest(), "kind": "HyperNode"} for one in cluster.kinds.hyper_nodes.store]
    return (_of_hyper_nodes(found, nodes), False) if found else (None, True)


def _of_hyper_nodes(found: Sequence[Mapping[str, Any]], nodes: Sequence[Node]) -> Topology:
    labels = {node.name: node.metadata.labels for node in nodes}
    text = json.dumps({"kind": "List", "items": found})
    imported = import_topology("hypernodes", ImportSource("the HyperNodes", text, labels))
    return build(imported.document, nodes or None)
