"""JSON Patch (RFC 6902) of what we add to a pod. Pure.

Only `add`: nothing that is there is taken away.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lws_volcano.placement.hints import PodHints, add_to_affinity

__all__ = ["Operation", "add_affinity", "add_annotations", "add_gate", "escape"]

Operation = dict[str, Any]
"""One operation of a JSON Patch."""


def escape(key: str) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def add_annotations(pod: Mapping[str, Any], annotations: Mapping[str, str]) -> list[Operation]:
    """Annotations that are not there yet with this value."""
    present = (pod.get("metadata") or {}).get("annotations")
    missing = {key: value for key, value in annotations.items() if (present or {}).get(key) != value}
    if not missing:
        return []
    if not present:
        return [_add("/metadata/annotations", dict(sorted(missing.items())))]
    return [_add(f"/metadata/annotations/{escape(key)}", value) for key, value in sorted(missing.items())]


def add_gate(pod: Mapping[str, Any], name: str) -> list[Operation]:
    """A scheduling gate, unless it is there."""
    gates = (pod.get("spec") or {}).get("schedulingGates")
    if any(gate.get("name") == name for gate in gates or ()):
        return []
    return [_append("/spec/schedulingGates", gates, [{"name": name}])]


def add_affinity(pod: Mapping[str, Any], hints: PodHints) -> list[Operation]:
    """The terms of the hints beside the user's own."""
    present = (pod.get("spec") or {}).get("affinity") or {}
    wanted = add_to_affinity(present, hints)
    if wanted == present:
        return []
    if not present:
        return [_add("/spec/affinity", wanted)]
    return [_add("/spec/affinity/nodeAffinity", wanted["nodeAffinity"])]


def _append(path: str, present: Sequence[Any] | None, values: list[Any]) -> Operation:
    return _add(path, [*(present or ()), *values])


def _add(path: str, value: Any) -> Operation:
    return {"op": "add", "path": path, "value": value}
