"""The kinds that are watched: which objects, how they are read, under which indexes they are kept."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lws_volcano.api import names
from lws_volcano.api.cluster import Namespace, Node, PriorityClass, RuntimeClass
from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import HyperNode, PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet
from lws_volcano.kube import resources
from lws_volcano.kube.resources import Resource
from lws_volcano.state.assigned import AssignedPod, AssignedPods
from lws_volcano.state.interning import InterningPods
from lws_volcano.state.store import Index, Store, Stored
from lws_volcano.state.topologies import TopologyRecord

__all__ = ["BY_GROUP", "BY_LWS", "BY_OWNER", "Kind", "Kinds"]

BY_LWS = "lws"
"""`namespace/name` of the LeaderWorkerSet that a label names."""
BY_OWNER = "owner"
"""UID of the controlling owner."""
BY_GROUP = "group"
"""`namespace/name` of the PodGroup that a pod names."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""A copy of the whole object that nobody here reads."""

T = TypeVar("T", bound=Stored)


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One watched kind.

    Attributes
    ----------
    parse
        View of an object as decoded from JSON; None for one that is none of our business.
    optional
        The controller can do without: where it may not be read, the snapshots say so.
    """

    resource: Resource
    parse: Callable[[Mapping[str, Any]], T | None]
    store: Store[T]
    label_selector: str = ""
    field_selector: str = ""
    optional: bool = False

    @property
    def name(self) -> str:
        """For logs and metrics."""
        return "assignedpods" if self.field_selector else self.resource.plural


@dataclass(frozen=True)
class _Parser(Generic[T]):
    view: Callable[[Mapping[str, Any]], T]

    def __call__(self, raw: Mapping[str, Any]) -> T:
        return self.view(_slim(raw))


def _slim(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = raw.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if LAST_APPLIED not in annotations:
        return raw
    kept = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {**raw, "metadata": {**metadata, "annotations": kept}}


def _revision(raw: Mapping[str, Any]) -> ControllerRevision | None:
    # StatefulSets keep revisions of their own under the same labels: not worth decoding.
    owners = (raw.get("metadata") or {}).get("ownerReferences") or ()
    if not any(owner.get("kind") == resources.LEADER_WORKER_SETS.kind for owner in owners):
        return None
    return ControllerRevision.parse(raw)


def _by_lws(item: Object) -> tuple[str, ...]:
    owner = item.metadata.labels.get(names.LWS_NAME)
    return (f"{item.namespace}/{owner}",) if owner else ()


def _by_owner(item: Object) -> tuple[str, ...]:
    return tuple(owner.uid for owner in item.metadata.owner_references)


def _by_namespace(item: Object) -> tuple[str, ...]:
    return (item.namespace,)


def _by_group(item: Object) -> tuple[str, ...]:
    name = item.metadata.annotations.get(names.GROUP_NAME)
    return (f"{item.namespace}/{name}",) if name else ()


def _store(**indexes: Index[Any]) -> Store[Any]:
    return Store(indexes)


@dataclass(frozen=True)
class Kinds:
    """All of them, each with an empty store."""

    lws: Kind[LeaderWorkerSet] = field(
        default_factory=lambda: Kind(
            resources.LEADER_WORKER_SETS, _Parser(LeaderWorkerSet.parse), _store(namespace=_by_namespace)
        )
    )
    pods: Kind[Pod] = field(
        default_factory=lambda: Kind(
            resources.PODS,
            _Parser(InterningPods().parse),
            _store(lws=_by_lws, group=_by_group),
            label_selector=names.LWS_NAME,
        )
    )
    revisions: Kind[ControllerRevision] = field(
        default_factory=lambda: Kind(
            resources.CONTROLLER_REVISIONS, _revision, _store(owner=_by_owner), label_selector=names.LWS_NAME
        )
    )
    pod_groups: Kind[PodGroup] = field(
        default_factory=lambda: Kind(
            resources.POD_GROUPS, _Parser(PodGroup.parse), _store(lws=_by_lws, owner=_by_owner)
        )
    )
    namespaces: Kind[Namespace] = field(
        default_factory=lambda: Kind(resources.NAMESPACES, _Parser(Namespace.parse), _store(), optional=True)
    )
    queues: Kind[Queue] = field(
        default_factory=lambda: Kind(resources.QUEUES, _Parser(Queue.parse), _store(), optional=True)
    )
    priority_classes: Kind[PriorityClass] = field(
        default_factory=lambda: Kind(resources.PRIORITY_CLASSES, _Parser(PriorityClass.parse), _store(), optional=True)
    )
    runtime_classes: Kind[RuntimeClass] = field(
        default_factory=lambda: Kind(resources.RUNTIME_CLASSES, _Parser(RuntimeClass.parse), _store(), optional=True)
    )
    topologies: Kind[TopologyRecord] = field(
        default_factory=lambda: Kind(resources.CLUSTER_TOPOLOGIES, TopologyRecord.parse, _store(), optional=True)
    )
    hyper_nodes: Kind[HyperNode] = field(
        default_factory=lambda: Kind(resources.HYPER_NODES, _Parser(HyperNode.parse), _store(), optional=True)
    )
    nodes: Kind[Node] = field(
        default_factory=lambda: Kind(resources.NODES, _Parser(Node.parse), _store(), optional=True)
    )
    assigned: Kind[AssignedPod] = field(
        default_factory=lambda: Kind(
            resources.PODS,
            AssignedPods().parse,
            _store(),
            field_selector="spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
            optional=True,
        )
    )

    def all(self) -> tuple[Kind[Any], ...]:
        """In the order in which they are worth having."""
        return (
            self.lws,
            self.pods,
            self.revisions,
            self.pod_groups,
            self.namespaces,
            self.queues,
            self.priority_classes,
            self.runtime_classes,
            self.topologies,
            self.hyper_nodes,
            self.nodes,
            self.assigned,
        )

    def of_topology(self) -> tuple[Kind[Any], ...]:
        """Those that only matter where a topology is configured."""
        return (self.nodes, self.assigned)

    def of_pass(self) -> tuple[Kind[Any], ...]:
        """Those that a pass over a LeaderWorkerSet reads."""
        return self.all()[:9]
