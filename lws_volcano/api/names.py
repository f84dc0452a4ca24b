"""Every name that a user or another program sees.

Keys of other projects are listed with their owner, ours under the prefix `lws-volcano.io/`. `docs/reference.md` lists
them all; a test compares the two.
"""

from enum import StrEnum
from typing import Final

PREFIX: Final = "lws-volcano.io/"
MANAGER: Final = "lws-volcano"
"""Field manager of every server-side apply, and the value of the managed-by label."""

# --- ours, on LeaderWorkerSets (and pod templates and namespaces where CONTRACTS says so)
GANG: Final = PREFIX + "gang"
TOPOLOGY_SCOPE: Final = PREFIX + "topology-scope"
PLACEMENT: Final = PREFIX + "placement"
PLACEMENT_GROUP: Final = PREFIX + "placement-group"
PLACEMENT_GROUP_TIER: Final = PREFIX + "placement-group-tier"
MIN_RESOURCES: Final = PREFIX + "min-resources"

# --- ours, on what we write
PLAN: Final = PREFIX + "plan"
"""Annotation on the leader pod and the PodGroup: the placement plan of one group as compact JSON."""
COPIED_KEYS: Final = PREFIX + "copied-keys"
"""Annotation on the PodGroup: which `volcano.sh/*` keys were copied from the LeaderWorkerSet."""
RELEASED: Final = PREFIX + "released"
"""Annotation on the PodGroup: UID of the leader that was deleted to release a stranded group."""
REMADE: Final = PREFIX + "remade"
"""Annotation on the PodGroup: how often its leader was deleted because its place was lost, and the UID of the last."""
PLACED: Final = PREFIX + "placed"
"""Annotation on the PodGroup: where the group really sits, when that is not as good as planned."""
TOPOLOGY: Final = PREFIX + "topology"
"""Label on HyperNodes: name of the ClusterTopology."""
MINIMUM_GATE: Final = PREFIX + "minimum"
"""Scheduling gate of a worker that is admitted before the minimum of its PodGroup is final."""
GANG_SCHEDULED: Final = PREFIX + "GangScheduled"
"""Type of our condition in the LeaderWorkerSet status."""

# --- Kubernetes
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
POD_INDEX: Final = "apps.kubernetes.io/pod-index"
HOSTNAME: Final = "kubernetes.io/hostname"

# --- LeaderWorkerSet
LWS_PREFIX: Final = "leaderworkerset.sigs.k8s.io/"
LWS_NAME: Final = LWS_PREFIX + "name"
GROUP_INDEX: Final = LWS_PREFIX + "group-index"
WORKER_INDEX: Final = LWS_PREFIX + "worker-index"
GROUP_KEY: Final = LWS_PREFIX + "group-key"
REVISION_HASH: Final = LWS_PREFIX + "template-revision-hash"
SUBGROUP_INDEX: Final = LWS_PREFIX + "subgroup-index"
SIZE: Final = LWS_PREFIX + "size"
LEADER_NAME: Final = LWS_PREFIX + "leader-name"
EXCLUSIVE_TOPOLOGY: Final = LWS_PREFIX + "exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY: Final = LWS_PREFIX + "subgroup-exclusive-topology"

# --- Volcano
GROUP_NAME: Final = "scheduling.k8s.io/group-name"
QUEUE_NAME: Final = "scheduling.volcano.sh/queue-name"
VOLCANO_PREFIX: Final = "volcano.sh/"
TASK_SPEC: Final = "volcano.sh/task-spec"
TASK_PRIORITY: Final = "volcano.sh/task-priority"
NETWORK_TOPOLOGY_MODE: Final = "volcano.sh/network-topology-mode"
NETWORK_TOPOLOGY_HIGHEST_TIER: Final = "volcano.sh/network-topology-highest-tier"
NETWORK_TOPOLOGY_SOURCE: Final = "volcano.sh/network-topology-source"

LEADER: Final = "leader"
WORKER: Final = "worker"
DEFAULT_QUEUE: Final = "default"
DEFAULT_SCHEDULER: Final = "volcano"

# --- API groups
LWS_API: Final = "leaderworkerset.x-k8s.io/v1"
PODGROUP_API: Final = "scheduling.volcano.sh/v1beta1"
HYPERNODE_API: Final = "topology.volcano.sh/v1alpha1"
OUR_API: Final = "lws-volcano.io/v1alpha1"


class Reason(StrEnum):
    """Reasons of conditions and Events. Stable: alerts are written against them."""

    # the condition is True
    ALL_GROUPS_PLACED = "AllGroupsPlaced"
    # waiting
    NO_GROUPS = "NoGroups"
    PODS_NOT_CREATED = "PodsNotCreated"
    GATED = "Gated"
    WAITING_FOR_CAPACITY = "WaitingForCapacity"
    QUEUE_NOT_FOUND = "QueueNotFound"
    QUEUE_NOT_OPEN = "QueueNotOpen"
    PRIORITY_CLASS_NOT_FOUND = "PriorityClassNotFound"
    STARTING = "Starting"
    RUNNING = "Running"
    TERMINATING = "Terminating"
    STRANDED = "Stranded"
    REVISION_NOT_FOUND = "RevisionNotFound"
    # somebody else's
    STOOD_DOWN = "StoodDown"
    NAME_TAKEN = "NameTaken"
    WRONG_SCHEDULER = "WrongScheduler"
    # bad input
    HYPERNODE_TWO_PARENTS = "HyperNodeTwoParents"
    INVALID_ANNOTATION = "InvalidAnnotation"
    INVALID_SUBGROUP = "InvalidSubGroup"
    INVALID_QUANTITY = "InvalidQuantity"
    NAME_TOO_LONG = "NameTooLong"
    PRIORITY_CLASS_CONFLICT = "PriorityClassConflict"
    TIER_NOT_FOUND = "TierNotFound"
    TOPOLOGY_IGNORED = "TopologyIgnored"
    UNSUPPORTED_BY_VOLCANO = "UnsupportedByVolcano"
    WRITE_REFUSED = "WriteRefused"
    # Events
    PODGROUP_CREATED = "PodGroupCreated"
    PODGROUP_UPDATED = "PodGroupUpdated"
    PODGROUP_DELETED = "PodGroupDeleted"
    POD_RETARGETED = "PodRetargeted"
    POD_NOT_IN_GANG = "PodNotInGang"
    LEADER_REMADE = "LeaderRemade"
    TOPOLOGY_VIOLATED = "TopologyViolated"
    TOPOLOGY_EMPTY = "TopologyEmpty"
    TOPOLOGY_INVALID = "TopologyInvalid"
    TOPOLOGY_READY = "TopologyReady"
    TWO_TOPOLOGY_PLANNERS = "TwoTopologyPlanners"
