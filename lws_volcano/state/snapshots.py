"""What one pass is given: one LeaderWorkerSet and what surrounds it.

At a cost that depends on it alone, but for a shallow copy of the few cluster-wide queues and classes: a snapshot may be
read in another thread while the stores go on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.identity import identify
from lws_volcano.mapping.naming import pod_group_name
from lws_volcano.mapping.snapshot import Capabilities, Snapshot
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import BY_LWS, BY_OWNER, Kind
from lws_volcano.state.store import Store

__all__ = ["snapshot"]

T = TypeVar("T", bound=Object)

_NO_HYPER_NODES: Final = (
    "the scheduler ignores networkTopology, hard too, while there is no HyperNode; "
    "apply a ClusterTopology (docs: topology/README.md)"
)


def snapshot(cluster: Cluster, key: str, settings: Settings, now: datetime) -> Snapshot | None:
    """The snapshot of one LeaderWorkerSet (`namespace/name`), None when there is no such set."""
    kinds = cluster.kinds
    lws = kinds.lws.store.get(key)
    if lws is None:
        return None
    pods = kinds.pods.store.by(BY_LWS, key)
    revisions = kinds.revisions.store.by(BY_OWNER, lws.uid)
    return Snapshot(
        lws=lws,
        now=now,
        settings=settings,
        pods=pods,
        revisions=tuple(revision for revision in revisions if revision.owner_uid == lws.uid),
        pod_groups=tuple({found.key: found for found in _pod_groups(kinds.pod_groups.store, lws, pods)}.values()),
        namespace=kinds.namespaces.store.get(lws.namespace),
        queues=_by_name(kinds.queues),
        priority_classes=_by_name(kinds.priority_classes),
        runtime_classes=_by_name(kinds.runtime_classes),
        topology=cluster.topology,
        places=cluster.places(key, now),
        capabilities=_capabilities(cluster, settings),
    )


def _capabilities(cluster: Cluster, settings: Settings) -> Capabilities:
    """As discovered; without any HyperNode the scheduler ignores network topology too.

    Where we write them they are about to come, also while it is being found out what a topology comes to, or the status
    of the ClusterTopology says why not.
    """
    known, hyper_nodes = cluster.capabilities, cluster.kinds.hyper_nodes.store
    coming = settings.hyper_nodes == "write" and (cluster.topology is not None or cluster.topology_pending())
    if known.topology_ignored or coming or len(hyper_nodes) or not hyper_nodes.synced:
        return known
    return replace(known, topology_ignored=_NO_HYPER_NODES)


def _pod_groups(store: Store[PodGroup], lws: LeaderWorkerSet, pods: tuple[Pod, ...]) -> Iterator[PodGroup]:
    """Those that it owns, those that carry its label, and strangers under a name that one of its groups takes."""
    for found in store.by(BY_OWNER, lws.uid):
        if found.namespace == lws.namespace:
            yield found
    yield from store.by(BY_LWS, lws.key)
    for pod in pods:
        identity = identify(pod.metadata)
        if identity is not None:
            name = pod_group_name(identity.lws, identity.group, identity.revision)
            stranger = store.get(f"{lws.namespace}/{name}")
            if stranger is not None:
                yield stranger


def _by_name(kind: Kind[T]) -> Mapping[str, T] | None:
    """Cluster-scoped objects by name (their key); None where the kind cannot be read."""
    return dict(kind.store.items) if kind.store.synced else None
