"""The kinds we read or write, and their paths."""

from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.api import names

__all__ = [
    "CLUSTER_TOPOLOGIES",
    "CONFIG_MAPS",
    "CONTROLLER_REVISIONS",
    "CUSTOM_RESOURCE_DEFINITIONS",
    "DEPLOYMENTS",
    "EVENTS",
    "HYPER_NODES",
    "LEADER_WORKER_SETS",
    "LEASES",
    "MUTATING_WEBHOOKS",
    "NAMESPACES",
    "NODES",
    "PODS",
    "POD_GROUPS",
    "PRIORITY_CLASSES",
    "QUEUES",
    "RUNTIME_CLASSES",
    "SECRETS",
    "STATEFUL_SETS",
    "Resource",
]


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind: `api_version` as in manifests, `plural` as in paths."""

    kind: str
    api_version: str
    plural: str
    namespaced: bool = True

    @property
    def group(self) -> str:
        """API group, empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def rbac_name(self) -> str:
        """How roles and people name it: `podgroups.scheduling.volcano.sh`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Path of an object, or of the collection; an empty namespace is all of them."""
        prefix = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        scope = f"namespaces/{namespace}/" if self.namespaced and namespace else ""
        return "/".join(part for part in (prefix, scope + self.plural, name, subresource) if part)

    def path_of(self, manifest: dict[str, Any]) -> str:
        """Path of the object that a manifest describes."""
        metadata = manifest["metadata"]
        return self.path(metadata.get("namespace", ""), metadata["name"])


LEADER_WORKER_SETS: Final = Resource("LeaderWorkerSet", names.LWS_API, "leaderworkersets")
POD_GROUPS: Final = Resource("PodGroup", names.PODGROUP_API, "podgroups")
QUEUES: Final = Resource("Queue", names.PODGROUP_API, "queues", namespaced=False)
HYPER_NODES: Final = Resource("HyperNode", names.HYPERNODE_API, "hypernodes", namespaced=False)
CLUSTER_TOPOLOGIES: Final = Resource("ClusterTopology", names.OUR_API, "clustertopologies", namespaced=False)
PODS: Final = Resource("Pod", "v1", "pods")
NODES: Final = Resource("Node", "v1", "nodes", namespaced=False)
NAMESPACES: Final = Resource("Namespace", "v1", "namespaces", namespaced=False)
SECRETS: Final = Resource("Secret", "v1", "secrets")
CONFIG_MAPS: Final = Resource("ConfigMap", "v1", "configmaps")
DEPLOYMENTS: Final = Resource("Deployment", "apps/v1", "deployments")
EVENTS: Final = Resource("Event", "v1", "events")
CONTROLLER_REVISIONS: Final = Resource("ControllerRevision", "apps/v1", "controllerrevisions")
STATEFUL_SETS: Final = Resource("StatefulSet", "apps/v1", "statefulsets")
LEASES: Final = Resource("Lease", "coordination.k8s.io/v1", "leases")
PRIORITY_CLASSES: Final = Resource("PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", namespaced=False)
RUNTIME_CLASSES: Final = Resource("RuntimeClass", "node.k8s.io/v1", "runtimeclasses", namespaced=False)
CUSTOM_RESOURCE_DEFINITIONS: Final = Resource(
    "CustomResourceDefinition", "apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False
)
MUTATING_WEBHOOKS: Final = Resource(
    "MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/v1",
    "mutatingwebhookconfigurations",
    namespaced=False,
)
