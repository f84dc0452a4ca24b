"""Views of pods and pod templates."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from lws_volcano.api.meta import Condition, Metadata, Object, View


class ResourceRequirements(View):
    """Requests and limits, as written (see `api.quantity`)."""

    requests: Mapping[str, str | int | float] = Field(default_factory=dict)
    limits: Mapping[str, str | int | float] = Field(default_factory=dict)


class ContainerPort(View):
    """A port; only the host's half matters to a scheduler."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = Field(default="", alias="hostIP")
    protocol: str = "TCP"


class Container(View):
    """An app or init container."""

    name: str = ""
    resources: ResourceRequirements = Field(default_factory=ResourceRequirements)
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""

    @property
    def restartable(self) -> bool:
        """An init container that keeps running beside the app (native sidecar)."""
        return self.restart_policy == "Always"


class Toleration(View):
    """What taints a pod puts up with; an empty key with operator Exists is all of them."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Requirement(View):
    """One expression of a node selector or label selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(View):
    """All expressions and fields must match."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(View):
    """One of the terms must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredTerm(View):
    """A wish with a weight of 1 to 100."""

    weight: int = 1
    preference: NodeSelectorTerm = Field(default_factory=NodeSelectorTerm)


class NodeAffinity(View):
    """Required and preferred node affinity."""

    required: NodeSelector | None = Field(default=None, alias="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[PreferredTerm, ...] = Field(default=(), alias="preferredDuringSchedulingIgnoredDuringExecution")


class Affinity(View):
    """Node affinity is typed; pod affinity is only known to be there."""

    node_affinity: NodeAffinity = Field(default_factory=NodeAffinity)
    pod_affinity: Mapping[str, Any] = Field(default_factory=dict)
    pod_anti_affinity: Mapping[str, Any] = Field(default_factory=dict)


class SchedulingGate(View):
    """A named reason not to look at the pod yet."""

    name: str = ""


class PodSpec(View):
    """What scheduling depends on."""

    scheduler_name: str = ""
    priority_class_name: str = ""
    priority: int | None = None
    node_name: str = ""
    node_selector: Mapping[str, str] = Field(default_factory=dict)
    affinity: Affinity = Field(default_factory=Affinity)
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements = Field(default_factory=ResourceRequirements)
    overhead: Mapping[str, str | int | float] = Field(default_factory=dict)
    runtime_class_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    host_network: bool = False


class PodTemplate(View):
    """Pod template of a workload."""

    metadata: Metadata = Field(default_factory=Metadata)
    spec: PodSpec = Field(default_factory=PodSpec)


class ContainerState(View):
    """Only why a container is not running."""

    waiting: Mapping[str, Any] = Field(default_factory=dict)


class ContainerStatus(View):
    """Readiness and state of a container."""

    name: str = ""
    ready: bool = False
    state: ContainerState = Field(default_factory=ContainerState)


class PodStatus(View):
    """Observed state of a pod."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Object):
    """A pod."""

    spec: PodSpec = Field(default_factory=PodSpec)
    status: PodStatus = Field(default_factory=PodStatus)

    @property
    def bound(self) -> bool:
        """It has a node."""
        return bool(self.spec.node_name)

    @property
    def finished(self) -> bool:
        """It takes no room any more."""
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def terminating(self) -> bool:
        """Deletion has been asked for."""
        return self.metadata.terminating

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type, if there is one."""
        return next((condition for condition in self.status.conditions if condition.type == kind), None)
