"""Pods read so that what many of them share is kept once.

The pods of a set have one spec but for the node, the same owners and the same few conditions: read naively, each would
keep some 15 KB of equal copies. Parts are recognised by their JSON before they are validated, which also saves most of
the validation.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

from lws_volcano.api.meta import Condition, OwnerReference
from lws_volcano.api.pods import Container, ContainerStatus, Pod, PodSpec

__all__ = ["InterningPods"]

LIMIT: Final = 4096
"""Different parts of one sort that are remembered; the oldest half is forgotten beyond that."""

V = TypeVar("V", bound=BaseModel)
Json = Mapping[str, Any]


class _Parts(Generic[V]):
    """Parts of one sort, by the JSON of the fields that we read."""

    def __init__(self, view: type[V]) -> None:
        self._read = [field.alias or name for name, field in view.model_fields.items()]
        self._parse: Callable[[Json], V] = view.model_validate
        self._known: dict[str, V] = {}

    def get(self, raw: Json, without: str = "", **other: Any) -> V:
        """The view of a part; `other` stands for fields of it, `without` leaves one out."""
        kept = {name: raw[name] for name in self._read if name in raw and name != without} | other
        text = json.dumps(kept, separators=(",", ":"))
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= LIMIT:
                self._known = dict(list(self._known.items())[LIMIT // 2 :])
            found = self._known[text] = self._parse(kept)
        return found


class InterningPods:
    """Reads pods; give each store one of its own."""

    def __init__(self) -> None:
        self._specs = _Parts(PodSpec)
        self._owners = _Parts(OwnerReference)
        self._conditions = _Parts(Condition)
        self._statuses = _Parts(ContainerStatus)
        self._container_fields = [field.alias or name for name, field in Container.model_fields.items()]

    def parse(self, raw: Json) -> Pod:
        """The view of a pod.

        Raises
        ------
        pydantic.ValidationError
            A field we read has another type than the API gives it.
        """
        return Pod.model_validate(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": self._metadata(raw.get("metadata") or {}),
                "spec": self._spec(raw.get("spec") or {}),
                "status": self._status(raw.get("status") or {}),
            }
        )

    def _metadata(self, raw: Json) -> Json:
        owners = tuple(self._owners.get(owner) for owner in raw.get("ownerReferences") or ())
        return {
            **raw,
            "labels": _interned(raw.get("labels")),
            "annotations": _interned(raw.get("annotations")),
            "ownerReferences": owners,
        }

    def _spec(self, raw: Json) -> PodSpec:
        """The spec that all pods of a template share, with this one's node."""
        lists = {name: [self._container(c) for c in raw[name]] for name in _CONTAINERS if raw.get(name)}
        shared = self._specs.get(raw, "nodeName", **lists)
        node = raw.get("nodeName")
        return shared.model_copy(update={"node_name": sys.intern(node)}) if node else shared

    def _container(self, raw: Json) -> Json:
        # The environment differs from pod to pod and is nothing to us.
        return {name: raw[name] for name in self._container_fields if name in raw}

    def _status(self, raw: Json) -> Json:
        return {
            "phase": raw.get("phase") or "",
            "conditions": tuple(self._conditions.get(one) for one in raw.get("conditions") or ()),
            "containerStatuses": tuple(self._statuses.get(one) for one in raw.get("containerStatuses") or ()),
        }


_CONTAINERS: Final = ("containers", "initContainers")


def _interned(texts: Mapping[str, str] | None) -> dict[str, str]:
    """Keys and short values as one object each; a null of a hand-written manifest is left out."""
    return {
        sys.intern(key): sys.intern(value) if len(value) < _SHORT else value
        for key, value in (texts or {}).items()
        if value is not None
    }


_SHORT: Final = 256
