"""The ClusterTopology document: one schema for the file, the custom resource and editors.

Field descriptions end up in `crds/` and `topology/schema.json`. What the fields mean together is checked in `build`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

__all__ = [
    "ClusterTopology", "DomainSpec", "LevelSpec", "NodeSelector", "Override", "SelectorRequirement", "StatusCondition",
    "TierSpec", "TopologyMetadata", "TopologySpec", "TopologyStatus",
]  # fmt: skip

MAX_NAME = 253
KIND = "ClusterTopology"


class Document(BaseModel):
    """Base: camelCase outside, frozen, a field that we do not know is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and None in raw.values():
            return {key: value for key, value in raw.items() if value is not None}
        return raw


def _text(value: Any) -> Any:
    """YAML makes a number of a name such as 12; a name it stays."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _decimal(value: Any) -> Any:
    """A number with a point is kept as it was written; the API has no floats here."""
    return str(value) if isinstance(value, float) else value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Name = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=MAX_NAME)]
HostList = Annotated[str, BeforeValidator(_text)]
HostLists = Annotated[tuple[HostList, ...], BeforeValidator(_listed)]
TierReference = Annotated[int, Field(strict=True, ge=0)] | Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Measure = Annotated[Annotated[int, Field(strict=True, ge=0)] | str, BeforeValidator(_decimal)]


class TierSpec(Document):
    """A level of the network."""

    name: Name = Field(description="Name of the level, such as rack or spine.")
    tier: int | None = Field(
        default=None, ge=0, description="Number, smaller is closer; the position in the list, from 1, when left out."
    )
    bandwidth: Measure | None = Field(
        default=None,
        description="Bandwidth per node between two nodes that meet at this tier, such as 50GB/s or 400Gb/s. "
        "Left out: 100GB/s at the first tier, half of the tier below at each further one.",
    )
    latency: Measure | None = Field(default=None, description="Latency between two such nodes, such as 2us.")


class SelectorRequirement(Document):
    """One expression of a label selector."""

    key: str = Field(min_length=1, description="Label key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="In, NotIn, Exists or DoesNotExist.")
    values: tuple[str, ...] = Field(default=(), description="Values for In and NotIn.")


class NodeSelector(Document):
    """Nodes by their labels; all parts must match."""

    match_labels: Mapping[str, str] = Field(default_factory=dict, description="Labels with exactly these values.")
    match_expressions: tuple[SelectorRequirement, ...] = Field(
        default=(), description="Expressions, all of which must hold."
    )


class DomainSpec(Document):
    """A rack, a switch, or what else nodes share."""

    name: Name = Field(description="Name, unique in the document.")
    tier: TierReference = Field(description="Name or number of its tier.")
    parent: Name | None = Field(
        default=None, description="The domain of a higher tier that it belongs to; none for the root of a tree."
    )
    nodes: HostLists = Field(
        default=(), description="Nodes straight in this domain, host ranges such as gpu-[001-016] included."
    )
    node_selector: NodeSelector | None = Field(default=None, description="Nodes straight in this domain, by label.")


class LevelSpec(Document):
    """A tier whose domains are the values of a node label."""

    tier: TierReference = Field(description="Name or number of the tier.")
    key: str = Field(min_length=1, description="Label key.")
    ignore_values: tuple[str, ...] = Field(
        default=("unknown",),
        description="Values that say nothing, beside the empty one; nodes with them get no domain of this tier.",
    )


class Override(Document):
    """Nodes whose domain is decided here, whatever domains and labels say."""

    nodes: HostLists = Field(description="Nodes, host ranges included.")
    domain: Name | None = Field(default=None, description="Their domain; none leaves them out of the topology.")


class TopologySpec(Document):
    """The network."""

    tiers: tuple[TierSpec, ...] = Field(default=(), description="Levels of the network, closest first.")
    domains: tuple[DomainSpec, ...] = Field(default=(), description="Racks and switches, each with at most one parent.")
    node_labels: tuple[LevelSpec, ...] = Field(
        default=(), description="Instead of domains: labels on nodes, closest first."
    )
    across_bandwidth: Measure | None = Field(
        default=None,
        description="Bandwidth between trees, and to nodes without a domain; the lowest of the tiers when left out.",
    )
    ignore: tuple[Name, ...] = Field(
        default=(),
        description="Domains to leave out, such as a storage switch; what is in them goes to their parent.",
    )
    overrides: tuple[Override, ...] = Field(default=(), description="Nodes whose domain is decided here.")
    strip_domain: bool = Field(
        default=False,
        description="Match node names by the part before the first dot, where that is unambiguous.",
    )


class TopologyMetadata(BaseModel):
    """Object metadata; only the name counts."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    name: Annotated[str, BeforeValidator(_text)] = ""
    generation: int = 0
    uid: str = ""
    resource_version: str = ""


class StatusCondition(Document):
    """A condition, as everywhere in Kubernetes."""

    type: str = Field(description="Ready.")
    status: Literal["True", "False", "Unknown"] = Field(description="True, False or Unknown.")
    reason: str = Field(default="", description="One word for programs.")
    message: str = Field(default="", description="A sentence for people.")
    last_transition_time: str = Field(default="", description="When the status last changed.")
    observed_generation: int = Field(default=0, description="Generation of the spec that this is about.")


class TopologyStatus(Document):
    """What became of the spec in this cluster."""

    model_config = ConfigDict(extra="ignore")

    nodes: int = Field(default=0, description="Nodes of the cluster that are in a domain.")
    unplaced: int = Field(default=0, description="Nodes of the cluster that are in no domain.")
    domains: int = Field(default=0, description="Domains that have nodes.")
    tiers: int = Field(default=0, description="Tiers that such domains have.")
    warnings: tuple[str, ...] = Field(default=(), description="What was found, the first of them.")
    observed_generation: int = Field(default=0, description="Generation of the spec that this is about.")
    conditions: tuple[StatusCondition, ...] = Field(default=(), description="Ready: the topology is in use.")


class ClusterTopology(Document):
    """A ClusterTopology, from a file or from the cluster."""

    api_version: Literal["lws-volcano.io/v1alpha1"] = "lws-volcano.io/v1alpha1"
    kind: Literal["ClusterTopology"] = "ClusterTopology"
    metadata: TopologyMetadata = Field(default_factory=TopologyMetadata)
    spec: TopologySpec = Field(default_factory=TopologySpec)
    status: TopologyStatus = Field(default_factory=TopologyStatus, description="Written by the controller.")

    @property
    def name(self) -> str:
        """Name of the object."""
        return self.metadata.name

    def manifest(self) -> dict[str, Any]:
        """The document as it is written to a file: set fields only, no status."""
        dumped = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        head = {"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": self.name}}
        return {**head, "spec": dumped.get("spec", {})}
