"""The kinds that the local control plane, the stand-ins and the tests deal with."""

from typing import Final

from deploy.local.api import Resource

NAMESPACES: Final = Resource("v1", "Namespace", "namespaces", namespaced=False)
NODES: Final = Resource("v1", "Node", "nodes", namespaced=False)
PODS: Final = Resource("v1", "Pod", "pods")
SERVICES: Final = Resource("v1", "Service", "services")
CONFIG_MAPS: Final = Resource("v1", "ConfigMap", "configmaps")
EVENTS: Final = Resource("v1", "Event", "events")
STATEFUL_SETS: Final = Resource("apps/v1", "StatefulSet", "statefulsets")
REVISIONS: Final = Resource("apps/v1", "ControllerRevision", "controllerrevisions")
PRIORITY_CLASSES: Final = Resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", namespaced=False)
CRDS: Final = Resource("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False)
CLUSTER_ROLES: Final = Resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDINGS: Final = Resource(
    "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
)
MUTATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False
)
VALIDATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
LEADER_WORKER_SETS: Final = Resource("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets")
DISAGGREGATED_SETS: Final = Resource("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", "disaggregatedsets")
POD_GROUPS: Final = Resource("scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups")
QUEUES: Final = Resource("scheduling.volcano.sh/v1beta1", "Queue", "queues", namespaced=False)
CLUSTER_TOPOLOGIES: Final = Resource(
    "lws-volcano.io/v1alpha1", "ClusterTopology", "clustertopologies", namespaced=False
)
HYPER_NODES: Final = Resource("topology.volcano.sh/v1alpha1", "HyperNode", "hypernodes", namespaced=False)
