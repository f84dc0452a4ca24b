"""From files, or from a cluster, to an inventory for the planner."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from lws_volcano.api.cluster import Namespace, Node, PriorityClass, RuntimeClass
from lws_volcano.api.errors import InputError
from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, DisaggregatedSet, LeaderWorkerSet
from lws_volcano.cli.documents import VIEWS, Document, read_documents
from lws_volcano.mapping.disaggregated import children
from lws_volcano.mapping.inventory import Inventory
from lws_volcano.state.cluster import Cluster
from lws_volcano.topology.build import build
from lws_volcano.topology.file import Source, parse_document, parse_topologies
from lws_volcano.topology.importers.registry import import_topology
from lws_volcano.topology.importers.source import Source as ImportSource
from lws_volcano.topology.load import build_all
from lws_volcano.topology.model import Topology

__all__ = ["Inputs", "from_cluster", "from_files"]

TOPOLOGY: Final = "ClusterTopology"
DISAGGREGATED: Final = "DisaggregatedSet"

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Inputs:
    """An inventory, and what was noticed on the way to it.

    `own_topology` is False where the topology was read from HyperNodes: those stay as they are.
    """

    inventory: Inventory
    own_topology: bool = True
    warnings: tuple[str, ...] = ()


def from_files(paths: Sequence[str], topology_file: str | None, *, keep_going: bool = False) -> Inputs:
    """Read manifests in any mix, and a topology from a file of its own.

    Raises
    ------
    InputError
        Something can't be read; the message says what, where and how to mend it.
    """
    found = _Documents(read_documents(paths))
    nodes = found.of(Node)
    topology, own = _topology(found, nodes, topology_file, keep_going=keep_going)
    sets = found.of(LeaderWorkerSet)
    inventory = Inventory(
        sets=(*sets, *(child for parent in found.of(DisaggregatedSet) for child in children(parent, sets))),
        nodes=nodes,
        pods=found.of(Pod),
        revisions=found.of(ControllerRevision),
        pod_groups=found.of(PodGroup),
        namespaces={one.name: one for one in found.of(Namespace)},
        queues=found.named(Queue),
        priority_classes=found.named(PriorityClass),
        runtime_classes=found.named(RuntimeClass),
        topology=topology,
    )
    return Inputs(inventory, own, found.warnings())


def from_cluster(cluster: Cluster, files: Inputs) -> Inputs:
    """What a cluster holds, with the manifests of files on top: what would become of them there."""
    kinds, extra = cluster.kinds, files.inventory
    given = {lws.key for lws in extra.sets}
    sets = [lws for lws in kinds.lws.store if lws.key not in given]
    inventory = replace(
        extra,
        sets=(*sorted(sets, key=_age), *extra.sets),
        nodes=extra.nodes or tuple(kinds.nodes.store),
        pods=(*extra.pods, *kinds.pods.store),
        revisions=tuple(kinds.revisions.store),
        pod_groups=tuple(kinds.pod_groups.store),
        namespaces=dict(kinds.namespaces.store.items),
        queues=dict(kinds.queues.store.items) if kinds.queues.store.synced else None,
        priority_classes=dict(kinds.priority_classes.store.items),
        runtime_classes=dict(kinds.runtime_classes.store.items),
        topology=extra.topology or cluster.topology,
        capabilities=cluster.capabilities,
    )
    return Inputs(inventory, files.own_topology, files.warnings)


def _age(lws: LeaderWorkerSet) -> tuple[str, str]:
    created = lws.metadata.creation_timestamp
    return created.isoformat() if created else "", lws.key


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

    def named(self, view: type[T]) -> Mapping[str, T] | None:
        """By name; None where the input has none of the kind, so that nothing is concluded from an absence."""
        return {one.name: one for one in self.of(view)} or None

    def warnings(self) -> tuple[str, ...]:
        """Twice given objects, and kinds that are passed over."""
        unknown = sorted(set(self._by_kind) - set(VIEWS) - {TOPOLOGY})
        passed = [f"passed over: {', '.join(unknown)}"] if unknown else []
        return (*self._warnings, *passed)


def _topology(
    found: _Documents, nodes: Sequence[Node], file: str | None, *, keep_going: bool
) -> tuple[Topology | None, bool]:
    """From --topology, else from ClusterTopology documents, else from HyperNodes; and whether it is ours to write."""
    known = nodes or None
    if file is not None:
        return build_all(
            parse_topologies(_bytes(file), file, keep_going=keep_going), known, keep_going=keep_going
        ), True
    sources: list[Source] = [parse_document(one.raw, one.origin, keep_going=keep_going) for one in found.raw(TOPOLOGY)]
    if sources:
        return build_all(sources, known, keep_going=keep_going), True
    hyper_nodes = [one.raw for one in found.raw("HyperNode")]
    if hyper_nodes:
        labels = {node.name: node.metadata.labels for node in nodes}
        text = json.dumps({"kind": "List", "items": hyper_nodes})
        imported = import_topology("hypernodes", ImportSource("HyperNodes of the input", text, labels))
        return build(imported.document, known), False
    return None, True


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", where=path, mend="check the path") from None
