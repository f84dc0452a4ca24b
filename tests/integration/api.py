"""The client that integration tests look at the world with: `deploy.local.api`, not the product's own."""

from deploy.local.api import Api, Object, Resource
from deploy.local.errors import ApiError
from deploy.local.resources import (
    CLUSTER_TOPOLOGIES,
    CONFIG_MAPS,
    DISAGGREGATED_SETS,
    EVENTS,
    HYPER_NODES,
    LEADER_WORKER_SETS,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    QUEUES,
    REVISIONS,
    STATEFUL_SETS,
)

__all__ = [
    "CLUSTER_TOPOLOGIES",
    "CONFIG_MAPS",
    "DISAGGREGATED_SETS",
    "EVENTS",
    "HYPER_NODES",
    "LEADER_WORKER_SETS",
    "NAMESPACES",
    "NODES",
    "PODS",
    "POD_GROUPS",
    "PRIORITY_CLASSES",
    "QUEUES",
    "REVISIONS",
    "STATEFUL_SETS",
    "Api",
    "ApiError",
    "Object",
    "Resource",
]
