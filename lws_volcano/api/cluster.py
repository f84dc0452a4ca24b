"""Views of nodes and of the small objects around scheduling."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from lws_volcano.api.meta import Condition, Object, View


class Taint(View):
    """A node's mark that keeps pods away."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(View):
    """Cordon and taints."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(View):
    """Room and readiness."""

    allocatable: Mapping[str, str | int | float] = Field(default_factory=dict)
    capacity: Mapping[str, str | int | float] = Field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class Node(Object):
    """A node."""

    spec: NodeSpec = Field(default_factory=NodeSpec)
    status: NodeStatus = Field(default_factory=NodeStatus)

    @property
    def ready(self) -> bool:
        """Ready is True, or there is no such condition (a node written by hand)."""
        ready = next((c for c in self.status.conditions if c.type == "Ready"), None)
        return ready is None or ready.status == "True"


class Namespace(Object):
    """A namespace; its annotations carry defaults."""


class PriorityClass(Object):
    """A priority class."""

    value: int = 0
    global_default: bool = False


class RuntimeClass(Object):
    """A runtime class; its overhead counts as part of the pod."""

    handler: str = ""
    overhead: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def pod_overhead(self) -> Mapping[str, str | int | float]:
        """Resources that a pod of this class takes on top of its containers."""
        fixed: Mapping[str, str | int | float] = self.overhead.get("podFixed") or {}
        return fixed
