"""What a group asks for, from its leader pod and what the stores know of its set."""

from lws_volcano.api.names import GROUP_KEY, LWS_NAME
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.group_demand import GroupKey, group_demand, rules_of
from lws_volcano.mapping.identity import identify
from lws_volcano.mapping.network_topology import network_topology
from lws_volcano.mapping.placement_wish import placement_wish
from lws_volcano.mapping.revision import templates
from lws_volcano.placement.demand import Demand
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import BY_OWNER

__all__ = ["demand_of"]


def demand_of(cluster: Cluster, settings: Settings, leader: Pod) -> Demand | None:
    """Demand of the group of a leader that has no node; None while its set is not known.

    Raises
    ------
    QuantityError
        A request that Kubernetes would refuse.
    """
    kinds, identity = cluster.kinds, identify(leader.metadata)
    lws = kinds.lws.store.get(f"{leader.namespace}/{leader.metadata.labels.get(LWS_NAME, '')}")
    if lws is None or identity is None:
        return None
    known = templates(lws, kinds.revisions.store.by(BY_OWNER, lws.uid))
    template = known.get(identity.revision) or lws.spec.leader_worker_template
    constraint = network_topology(lws, template, cluster.topology, cluster.capabilities)
    rules = rules_of(lws, template, constraint, placement_wish(lws, settings, cluster.topology))
    group = GroupKey(
        index=identity.group,
        revision=identity.revision,
        group_key=leader.metadata.labels.get(GROUP_KEY, ""),
        priority=leader.spec.priority or 0,
    )
    return group_demand(lws, template, rules, group, {one.name: one for one in kinds.runtime_classes.store})
