"""The base of every view, and object metadata.

A view keeps only the fields we use, drops explicit nulls (manifests in the wild write `annotations:` and nothing),
and is frozen: a snapshot handed to pure code can't change under it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel


class View(BaseModel):
    """Base of the frozen views: camelCase in, snake_case here, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and None in raw.values():
            return {key: value for key, value in raw.items() if value is not None}
        return raw

    def manifest(self) -> dict[str, Any]:
        """The fields that were set, as the API server spells them."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


class OwnerReference(View):
    """Who an object belongs to."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(View):
    """ObjectMeta."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def terminating(self) -> bool:
        """Deletion has been asked for."""
        return self.deletion_timestamp is not None

    @property
    def controller_uid(self) -> str:
        """UID of the managing owner, empty without one."""
        return next((owner.uid for owner in self.owner_references if owner.controller), "")


class Object(View):
    """Anything with metadata."""

    api_version: str = ""
    kind: str = ""
    metadata: Metadata = Field(default_factory=Metadata)

    @property
    def name(self) -> str:
        """Name inside its namespace."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """Namespace, empty for cluster-scoped kinds."""
        return self.metadata.namespace

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for cluster-scoped kinds: the key of stores and queues."""
        return f"{self.metadata.namespace}/{self.metadata.name}" if self.metadata.namespace else self.metadata.name

    @property
    def uid(self) -> str:
        """UID, empty for an object read from a file."""
        return self.metadata.uid

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """View of an object as decoded from JSON or YAML.

        Raises
        ------
        pydantic.ValidationError
            A field we read has another type than the API gives it.
        """
        return cls.model_validate(raw)


class Condition(View):
    """An entry of `status.conditions`."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    observed_generation: int = 0
