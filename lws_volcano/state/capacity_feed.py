"""Keeps the free room of this replica in step with its stores of nodes and bound pods, change by change."""

from typing import Any

import structlog

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import QuantityError
from lws_volcano.placement.capacity import Capacity
from lws_volcano.state.assigned import AssignedPod
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind
from lws_volcano.state.store import Difference
from lws_volcano.topology.model import Topology

__all__ = ["CapacityFeed"]

_log = structlog.get_logger(__name__)


class CapacityFeed:
    """Feeds one `Capacity`; a change costs O(1), a new topology O(nodes)."""

    def __init__(self, cluster: Cluster) -> None:
        self.capacity = Capacity()
        self._cluster = cluster
        cluster.listen(self._changed)

    def current(self) -> Capacity | None:
        """The capacity; None while there is no topology, or nodes and pods are not all known."""
        kinds = self._cluster.kinds
        known = kinds.nodes.store.synced and kinds.assigned.store.synced
        return self.capacity if known and self.capacity.topology is not None else None

    def use(self, topology: Topology | None) -> bool:
        """Count along another topology; False for one of the same content, which changes nothing."""
        if _alike(self.capacity.topology, topology):
            return False
        self.capacity.set_topology(topology)
        return True

    def _changed(self, kind: Kind[Any], difference: Difference[Any]) -> None:
        kinds = self._cluster.kinds
        if kind is kinds.nodes:
            self._node(difference)
        elif kind is kinds.assigned:
            self._pod(difference)

    def _node(self, difference: Difference[Node]) -> None:
        if difference.new is None:
            self.capacity.remove_node(difference.either.name)
            return
        try:
            self.capacity.upsert_node(difference.new)
        except QuantityError as error:
            _log.warning("node passed over", error=str(error))

    def _pod(self, difference: Difference[AssignedPod]) -> None:
        if difference.old is not None and (difference.new is None or difference.new.uid != difference.old.uid):
            self.capacity.unbind(difference.old.uid)
        if difference.new is not None:
            self.capacity.occupy(difference.new.uid, difference.new.seat)


def _alike(left: Topology | None, right: Topology | None) -> bool:
    if left is None or right is None:
        return left is right
    return (
        left.nodes == right.nodes
        and left.domains == right.domains
        and left.domain_of == right.domain_of
        and left.tier_of == right.tier_of
        and left.across_bandwidth == right.across_bandwidth
    )
