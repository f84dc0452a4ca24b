"""Views of Volcano's objects, and the PodGroup spec that we write.

Source: volcano.sh/apis scheduling/v1beta1 and topology/v1alpha1.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from lws_volcano.api.meta import Condition, Object, View


class NetworkTopology(View):
    """Constraint on how far apart pods may sit; tier number and name exclude each other."""

    mode: str = "hard"
    highest_tier_allowed: int | None = None
    highest_tier_name: str | None = None


class LabelSelector(View):
    """A label selector, expressions as they came."""

    match_labels: Mapping[str, str] = Field(default_factory=dict)
    match_expressions: tuple[Mapping[str, Any], ...] = ()


class SubGroupPolicySpec(View):
    """Volcano's sub-groups: pods with equal values of the label keys belong together."""

    name: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    sub_group_size: int | None = None
    min_sub_groups: int | None = None
    network_topology: NetworkTopology | None = None


class PodGroupSpec(View):
    """Spec of a PodGroup; `manifest()` gives the fields that were set."""

    min_member: int = 1
    min_task_member: Mapping[str, int] = Field(default_factory=dict)
    queue: str = "default"
    priority_class_name: str = ""
    min_resources: Mapping[str, str | int | float] = Field(default_factory=dict)
    network_topology: NetworkTopology | None = None
    sub_group_policy: tuple[SubGroupPolicySpec, ...] = ()


class PodGroupStatus(View):
    """What the scheduler says; conditions never go away, so the newest by time counts."""

    phase: str = ""
    running: int = 0
    conditions: tuple[Condition, ...] = ()


class PodGroup(Object):
    """A PodGroup."""

    spec: PodGroupSpec = Field(default_factory=PodGroupSpec)
    status: PodGroupStatus = Field(default_factory=PodGroupStatus)


class QueueSpec(View):
    """Capability of a queue."""

    capability: Mapping[str, str | int | float] = Field(default_factory=dict)


class QueueStatus(View):
    """State: Open, Closed, Closing, Unknown; empty until Volcano's controller has seen the queue."""

    state: str = ""


class Queue(Object):
    """A Volcano queue (cluster-scoped)."""

    spec: QueueSpec = Field(default_factory=QueueSpec)
    status: QueueStatus = Field(default_factory=QueueStatus)


class MemberSelector(View):
    """One of exactMatch, regexMatch, labelMatch."""

    exact_match: Mapping[str, str] | None = None
    regex_match: Mapping[str, str] | None = None
    label_match: Mapping[str, Any] | None = None


class HyperNodeMember(View):
    """A member: Node or HyperNode."""

    type: str = "Node"
    selector: MemberSelector = Field(default_factory=MemberSelector)


class HyperNodeSpec(View):
    """Tier (smaller is closer) and members."""

    tier: int = 1
    tier_name: str = ""
    members: tuple[HyperNodeMember, ...] = ()


class HyperNode(Object):
    """A HyperNode (cluster-scoped)."""

    spec: HyperNodeSpec = Field(default_factory=HyperNodeSpec)
