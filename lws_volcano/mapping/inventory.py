"""Everything that a whole plan depends on: the objects of some files, or of a cluster, in their order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from lws_volcano.api.cluster import Namespace, Node, PriorityClass, RuntimeClass
from lws_volcano.api.names import LWS_NAME
from lws_volcano.api.pods import Pod, PodSpec
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet
from lws_volcano.mapping.snapshot import Capabilities, Snapshot
from lws_volcano.topology.model import Topology

__all__ = ["DEFAULT_NAMESPACE", "Inventory"]

DEFAULT_NAMESPACE: Final = "default"
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
"""A plan from files depends on no clock: nothing is stranded yet."""
_SYSTEM_PRIORITIES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """Objects by kind; queues and priority classes are None where nothing is known of them."""

    sets: tuple[LeaderWorkerSet, ...] = ()
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    revisions: tuple[ControllerRevision, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    queues: Mapping[str, Queue] | None = None
    priority_classes: Mapping[str, PriorityClass] | None = None
    runtime_classes: Mapping[str, RuntimeClass] | None = None
    topology: Topology | None = None
    settings: Settings = field(default_factory=Settings)
    capabilities: Capabilities = field(default_factory=Capabilities)

    def snapshot(self, lws: LeaderWorkerSet) -> Snapshot:
        """One LWS and what surrounds it. O(pods + PodGroups): for the command line, not for the controller."""
        namespace = lws.namespace or DEFAULT_NAMESPACE
        near = [pod for pod in self.pods if (pod.namespace or DEFAULT_NAMESPACE) == namespace]
        return Snapshot(
            lws=lws,
            now=_EPOCH,
            settings=self.settings,
            pods=tuple(pod for pod in near if pod.metadata.labels.get(LWS_NAME) == lws.name),
            revisions=tuple(_of(self.revisions, lws, namespace)),
            pod_groups=tuple(one for one in self.pod_groups if (one.namespace or DEFAULT_NAMESPACE) == namespace),
            namespace=self.namespaces.get(namespace),
            queues=self.queues,
            priority_classes=self.priority_classes,
            runtime_classes=self.runtime_classes,
            topology=self.topology,
            capabilities=self.capabilities,
        )

    def priority(self, spec: PodSpec) -> int:
        """Priority that a pod of this spec would be admitted with."""
        if spec.priority is not None:
            return spec.priority
        classes = self.priority_classes or {}
        name = spec.priority_class_name
        if name in classes:
            return classes[name].value
        if name:
            return _SYSTEM_PRIORITIES.get(name, 0)
        return max((one.value for one in classes.values() if one.global_default), default=0)


def _of(revisions: Iterable[ControllerRevision], lws: LeaderWorkerSet, namespace: str) -> Iterable[ControllerRevision]:
    for revision in revisions:
        same_place = (revision.namespace or DEFAULT_NAMESPACE) == namespace
        if same_place and revision.metadata.labels.get(LWS_NAME) == lws.name and revision.owner_uid == lws.uid:
            yield revision
