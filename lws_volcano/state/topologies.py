"""ClusterTopology objects as they came.

Not read into the schema here: a document that does not fit has to be seen, so that its author can be told.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

__all__ = ["TopologyRecord"]


class TopologyRecord(NamedTuple):
    """One object, undecoded."""

    key: str
    uid: str
    generation: int
    raw: Mapping[str, Any]

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Keep an object as decoded from JSON."""
        metadata = raw["metadata"]
        return cls(metadata["name"], metadata.get("uid") or "", int(metadata.get("generation") or 0), raw)
