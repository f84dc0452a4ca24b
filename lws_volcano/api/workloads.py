"""Views of LeaderWorkerSets and the revisions behind their groups."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from lws_volcano.api.meta import Condition, Metadata, Object, View
from lws_volcano.api.names import REVISION_HASH
from lws_volcano.api.pods import PodTemplate

LEADER_READY = "LeaderReady"
LEADER_EXCLUDED = "LeaderExcluded"


class SubGroupPolicy(View):
    """Sub-groups inside a group; type LeaderWorker (default) or LeaderExcluded."""

    sub_group_size: int | None = None
    sub_group_policy_type: str = Field(default="LeaderWorker", alias="subGroupPolicyType")


class LeaderWorkerTemplate(View):
    """One group: its size and its pod templates."""

    size: int = 1
    leader_template: PodTemplate | None = None
    worker_template: PodTemplate = Field(default_factory=PodTemplate)
    restart_policy: str = "RecreateGroupOnPodRestart"
    sub_group_policy: SubGroupPolicy | None = None

    @property
    def leader(self) -> PodTemplate:
        """Template of the leader: its own, or the workers'."""
        return self.leader_template or self.worker_template

    @property
    def workers(self) -> int:
        """Workers in a group (the leader not counted)."""
        return max(self.size - 1, 0)


class RollingUpdateConfiguration(View):
    """Groups below the partition stay at their old revision."""

    partition: int = 0


class RolloutStrategy(View):
    """How template changes reach the groups."""

    rolling_update_configuration: RollingUpdateConfiguration = Field(default_factory=RollingUpdateConfiguration)


class LeaderWorkerSetSpec(View):
    """Spec with the API's defaults."""

    replicas: int = 1
    leader_worker_template: LeaderWorkerTemplate = Field(default_factory=LeaderWorkerTemplate)
    startup_policy: str = "LeaderCreated"
    rollout_strategy: RolloutStrategy = Field(default_factory=RolloutStrategy)
    scheduling: Mapping[str, Any] | None = None


class LeaderWorkerSetStatus(View):
    """The parts of the status that we read."""

    replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class LeaderWorkerSet(Object):
    """A LeaderWorkerSet."""

    spec: LeaderWorkerSetSpec = Field(default_factory=LeaderWorkerSetSpec)
    status: LeaderWorkerSetStatus = Field(default_factory=LeaderWorkerSetStatus)


class ControllerRevision(Object):
    """Content of one template revision of an LWS (`<lws>-<hash>-<n>`, owner kind LeaderWorkerSet)."""

    data: Mapping[str, Any] = Field(default_factory=dict)
    revision: int = 0

    @property
    def hash(self) -> str:
        """The revision hash that its pods carry as a label."""
        return self.metadata.labels.get(REVISION_HASH, "")

    @property
    def owner_uid(self) -> str:
        """UID of the owning LeaderWorkerSet; empty for the revisions that StatefulSets keep under the same labels."""
        return next((o.uid for o in self.metadata.owner_references if o.kind == "LeaderWorkerSet"), "")

    def template(self) -> LeaderWorkerTemplate | None:
        """The group template of this revision, or None where the content has no such part."""
        spec = self.data.get("spec") or {}
        raw = spec.get("leaderWorkerTemplate")
        return None if raw is None else LeaderWorkerTemplate.model_validate(raw)


class DisaggregatedRole(View):
    """One role of a DisaggregatedSet; its metadata is copied to the LWS made from it."""

    name: str = ""
    metadata: Metadata = Field(default_factory=Metadata)
    spec: LeaderWorkerSetSpec = Field(default_factory=LeaderWorkerSetSpec)


class DisaggregatedSetSpec(View):
    """Roles, each becoming an LWS; slices are copies of the whole."""

    roles: tuple[DisaggregatedRole, ...] = ()
    slices: int = 1


class DisaggregatedSet(Object):
    """A DisaggregatedSet (read offline by `plan`; in a cluster its LWS objects are what counts)."""

    spec: DisaggregatedSetSpec = Field(default_factory=DisaggregatedSetSpec)
