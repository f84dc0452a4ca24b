"""The placement group of a group at its admission, from this replica's caches: who sits where, who is still to come.

All groups of all sets of the namespace that carry the same name belong to it, those of the group's own set too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from lws_volcano.api.cluster import RuntimeClass
from lws_volcano.api.names import PLACEMENT_GROUP
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.group_demand import GroupKey, group_demand, rules_of
from lws_volcano.mapping.groups import Group, group_pods
from lws_volcano.mapping.network_topology import network_topology
from lws_volcano.mapping.placement_wish import placement_wish
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import BY_LWS

__all__ = ["LATER", "Company"]

LATER: Final = 8
"""Most groups still to come that the first one makes room for: each is planned in every domain that is tried."""


@dataclass(frozen=True)
class Company:
    """Looks at the other groups of one group's placement group."""

    cluster: Cluster
    settings: Settings
    capacity: Capacity

    def near(self, lws: LeaderWorkerSet, index: str) -> tuple[str, ...]:
        """Nodes of the others, bound or planned."""
        found: dict[str, None] = {}
        for other in self._sets(lws):
            own = {index} if other.name == lws.name else set()
            for group in self._groups(other):
                found.update(dict.fromkeys(_bound(group) if group.index not in own else ()))
            # Asked of the capacity: a leader that was admitted a moment ago has not come back by the watch yet.
            for promised in self._promised(other):
                if promised.group not in own:
                    found.update(dict.fromkeys(self.capacity.reserved(promised.key).values()))
        return tuple(found)

    def later(self, lws: LeaderWorkerSet, index: str) -> tuple[Demand, ...]:
        """Those that are neither planned nor begun, `LATER` at most."""
        return tuple(islice((one for other in self._sets(lws) for one in self._coming(other, lws, index)), LATER))

    def _sets(self, lws: LeaderWorkerSet) -> list[LeaderWorkerSet]:
        wanted = lws.metadata.annotations.get(PLACEMENT_GROUP)
        if not wanted:
            return []
        known = self.cluster.kinds.lws.store.by("namespace", lws.namespace)
        same = {one.name: one for one in known if one.metadata.annotations.get(PLACEMENT_GROUP) == wanted}
        return [one for _, one in sorted({**same, lws.name: lws}.items())]

    def _groups(self, lws: LeaderWorkerSet) -> tuple[Group, ...]:
        return group_pods(self.cluster.kinds.pods.store.by(BY_LWS, lws.key))

    def _promised(self, lws: LeaderWorkerSet) -> Iterator[Demand]:
        return (one for one in self.capacity.promised() if (one.namespace, one.lws) == (lws.namespace, lws.name))

    def _coming(self, other: LeaderWorkerSet, lws: LeaderWorkerSet, index: str) -> Iterator[Demand]:
        there = {group.index for group in self._groups(other) if group.leader is not None}
        there |= {promised.group for promised in self._promised(other)}
        own = {index} if other.name == lws.name else set()
        template, topology = other.spec.leader_worker_template, self.capacity.topology
        constraint = network_topology(other, template, topology, self.cluster.capabilities)
        rules = rules_of(other, template, constraint, placement_wish(other, self.settings, topology))
        for number in range(other.spec.replicas - len(there | own)):
            group = GroupKey(index=f"later-{number}", revision="")
            yield group_demand(other, template, rules, group, self._runtime_classes())

    def _runtime_classes(self) -> Mapping[str, RuntimeClass]:
        return {one.name: one for one in self.cluster.kinds.runtime_classes.store}


def _bound(group: Group) -> Iterator[str]:
    return (pod.spec.node_name for pod in group.members.values() if pod.bound and not pod.finished)
