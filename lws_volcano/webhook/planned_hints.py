"""Hints from the planner (CONTRACTS section 5): the plan is made when the leader is admitted, and travels on it.

- Leader: its group is planned from this replica's capacity, the plan holds its place, and goes onto the pod.
- Worker: its terms follow from the plan on its leader, on whichever replica.
- Worker of a group that runs already, or whose leader sits elsewhere than planned: planned anew around the others.
- No plan to be had (the leader is not in the cache yet): the order alone.

What goes wrong costs the hint, never the pod.
"""

from collections.abc import Callable, Mapping
from typing import Final

import structlog

from lws_volcano.api.errors import InputError
from lws_volcano.api.names import GROUP_INDEX, GROUP_KEY, GROUP_NAME, PLAN
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.group_demand import GroupKey, group_demand, rules_of
from lws_volcano.mapping.groups import group_pods
from lws_volcano.mapping.network_topology import network_topology
from lws_volcano.mapping.placement_wish import placement_wish
from lws_volcano.observe import metrics
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.hints import PodHints, leader_hints, member_hints, order_hints, replacement_hints
from lws_volcano.placement.landing import wanted_alternatives
from lws_volcano.placement.plan_format import Note, read_annotation
from lws_volcano.placement.planner import plan_group
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import BY_LWS
from lws_volcano.webhook.company import Company
from lws_volcano.webhook.hints import NO_HINTS, Member

__all__ = ["PlannedHints"]

_log = structlog.get_logger(__name__)

_PLANNED: Final = "planned"
_INFEASIBLE: Final = "infeasible"
_FOLLOWED: Final = "followed"
_REPLACED: Final = "replaced"
_ORDER: Final = "order"
_FAILED: Final = "failed"


class PlannedHints:
    """A `hints.HintSource`.

    Parameters
    ----------
    capacity
        This replica's capacity, fed from its watches, with the topology in use; None while there is none. Who feeds it
        also releases what a group held once its pods are gone.
    """

    def __init__(self, capacity: Callable[[], Capacity | None], cluster: Cluster, settings: Settings) -> None:
        self._capacity = capacity
        self._cluster = cluster
        self._settings = settings

    def for_member(self, member: Member) -> PodHints:
        """Hints of this pod."""
        capacity = self._capacity()
        if capacity is None:
            return NO_HINTS
        try:
            outcome, hints = self._hints(member, capacity)
        except InputError as error:
            _log.warning("no hints", pod=member.pod.name, namespace=member.lws.namespace, error=str(error))
            outcome, hints = _FAILED, NO_HINTS
        if outcome:
            metrics.WEBHOOK_HINTS.labels(outcome=outcome).inc()
        return hints

    def _hints(self, member: Member, capacity: Capacity) -> tuple[str, PodHints]:
        demand = self._demand(member, capacity)
        if demand.rules.placement == "none":
            return "", NO_HINTS
        if member.worker_index == 0:
            return self._leader(member, demand, capacity)
        return self._worker(member, demand, capacity)

    def _leader(self, member: Member, demand: Demand, capacity: Capacity) -> tuple[str, PodHints]:
        later = () if demand.near else self._company(capacity).later(member.lws, member.group_index)
        plan = plan_group(demand, capacity, later=later, alternatives=wanted_alternatives(demand))
        if plan.feasible and not member.dry_run:
            capacity.reserve(demand, plan.nodes)
        pod = member.pod
        hints = leader_hints(
            plan,
            capacity,
            priority=pod.spec.priority,
            annotations=pod.metadata.annotations,
            looks_at_all=self._settings.scheduler_looks_at_all_nodes,
            sub_groups_apart=self._sub_groups_apart(demand),
            alone=demand.rules.leader_first and self._alone(member, demand, capacity),
        )
        return _PLANNED if plan.feasible else _INFEASIBLE, hints

    def _worker(self, member: Member, demand: Demand, capacity: Capacity) -> tuple[str, PodHints]:
        note = _note_on(member.leader, member.pod_group)
        if demand.bound and not _goes_as_planned(demand.bound, note):
            return _REPLACED, replacement_hints(plan_group(demand, capacity), member.worker_index, capacity)
        if note is None:
            all_nodes = self._settings.scheduler_looks_at_all_nodes
            return _ORDER, order_hints(plan_group(demand, capacity), capacity, looks_at_all=all_nodes)
        return _FOLLOWED, member_hints(note, member.worker_index, capacity.topology, capacity.hostname)

    def _alone(self, member: Member, demand: Demand, capacity: Capacity) -> bool:
        """No other group is planned and not bound, and no other of this set is still to come."""
        if any(key != demand.key for key in capacity.reservations()):
            return False
        pods = self._cluster.kinds.pods.store.by(BY_LWS, member.lws.key)
        others = {group.index for group in group_pods(pods) if group.leader is not None and group.leader.bound}
        return member.lws.spec.replicas <= len(others - {member.group_index}) + 1

    def _sub_groups_apart(self, demand: Demand) -> bool:
        """The PodGroup has the sub-groups as policies from the start (see `mapping.sub_groups`)."""
        rules = demand.rules
        return self._cluster.capabilities.sub_groups and rules.scope == "group" and not rules.leader_first

    def _demand(self, member: Member, capacity: Capacity) -> Demand:
        lws, template, topology = member.lws, member.template, capacity.topology
        constraint = network_topology(lws, template, topology, self._cluster.capabilities)
        rules = rules_of(lws, template, constraint, placement_wish(lws, self._settings, topology))
        group = GroupKey(
            index=member.group_index,
            revision=member.revision,
            group_key=member.pod.metadata.labels.get(GROUP_KEY, ""),
            priority=member.pod.spec.priority or 0,
            bound=self._bound(member),
            near=self._company(capacity).near(lws, member.group_index),
        )
        classes = {one.name: one for one in self._cluster.kinds.runtime_classes.store}
        return group_demand(lws, template, rules, group, classes)

    def _bound(self, member: Member) -> Mapping[int, str]:
        """Rank -> node of the group's pods that have one."""
        pods = self._cluster.kinds.pods.store.by(BY_LWS, member.lws.key)
        same = [pod for pod in pods if pod.metadata.labels.get(GROUP_INDEX) == member.group_index]
        groups = (group for group in group_pods(same) if group.revision == member.revision)
        return {rank: pod.spec.node_name for group in groups for rank, pod in group.members.items() if pod.bound}

    def _company(self, capacity: Capacity) -> Company:
        return Company(self._cluster, self._settings, capacity)


def _note_on(leader: Pod | None, pod_group: str) -> Note | None:
    """The plan that a leader carries; None when it belongs to another group, is on its way out, or has none."""
    if leader is None or leader.terminating or leader.metadata.annotations.get(GROUP_NAME) != pod_group:
        return None
    text = leader.metadata.annotations.get(PLAN)
    return None if text is None else read_annotation(text)


def _goes_as_planned(bound: Mapping[int, str], note: Note | None) -> bool:
    """Only the leader runs yet, where the plan wants it."""
    return note is not None and set(bound) == {0} and note.nodes[:1] == (bound[0],)
