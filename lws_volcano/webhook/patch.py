"""JSON Patch (RFC 6902) of what we add to a pod. Pure.

Only `add`, and a `test` where a list of somebody else's is built upon: nothing that is there is taken away.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Operation", "add_annotations", "add_gate", "add_node_affinity", "escape"]

Operation = dict[str, Any]
"""One operation of a JSON Patch."""

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


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


def add_node_affinity(
    pod: Mapping[str, Any],
    preferred: Sequence[Mapping[str, Any]] = (),
    required: Sequence[Mapping[str, Any]] = (),
) -> list[Operation]:
    """Node affinity beside the user's own.

    Parameters
    ----------
    preferred
        PreferredSchedulingTerms, put after those that are there.
    required
        NodeSelectorRequirements that must hold as well: they go into every one of the user's terms, because the terms
        are alternatives.
    """
    if not preferred and not required:
        return []
    affinity = (pod.get("spec") or {}).get("affinity") or {}
    node = affinity.get("nodeAffinity") or {}
    wanted = dict(node)
    if preferred:
        wanted[_PREFERRED] = [*(node.get(_PREFERRED) or ()), *(dict(term) for term in preferred)]
    if required:
        wanted[_REQUIRED] = {"nodeSelectorTerms": _narrowed(node.get(_REQUIRED) or {}, required)}
    if not affinity:
        return [_add("/spec/affinity", {"nodeAffinity": wanted})]
    return [_add("/spec/affinity/nodeAffinity", wanted)]


def _narrowed(selector: Mapping[str, Any], required: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    ours = [dict(requirement) for requirement in required]
    terms = selector.get("nodeSelectorTerms") or [{}]
    return [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), *ours]} for term in terms]


def _append(path: str, present: Sequence[Any] | None, values: list[Any]) -> Operation:
    return _add(path, [*(present or ()), *values])


def _add(path: str, value: Any) -> Operation:
    return {"op": "add", "path": path, "value": value}
