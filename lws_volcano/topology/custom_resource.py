"""The schema as other programs want it: a CustomResourceDefinition, and a JSON schema for editors.

Both are generated from the pydantic model (`python crds/generate.py`); a test fails when the files differ from it.
A structural schema has no references, no nulls and no closed objects, so pydantic's output is unfolded here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from lws_volcano.api.names import OUR_API
from lws_volcano.topology.schema import KIND, ClusterTopology

__all__ = ["custom_resource_definition", "editor_schema"]

PLURAL: Final = "clustertopologies"
_LIST_KEYS: Final = {"tiers": "name", "domains": "name", "conditions": "type"}
"""Lists whose entries have a name: server-side apply merges them, and a name that is there twice is refused."""

_KEPT: Final = (
    "type", "description", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "required", "format",
)  # fmt: skip


def custom_resource_definition() -> dict[str, Any]:
    """The CustomResourceDefinition of ClusterTopology."""
    group, _, version = OUR_API.partition("/")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{group}", "annotations": {"helm.sh/resource-policy": "keep"}},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["ctopo"],
            },
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": _columns(),
                    "schema": {"openAPIV3Schema": structural_schema()},
                }
            ],
        },
    }


def _columns() -> list[dict[str, Any]]:
    ready = ".status.conditions[?(@.type=='Ready')]"
    return [
        {"name": "Ready", "type": "string", "jsonPath": f"{ready}.status"},
        {"name": "Nodes", "type": "integer", "jsonPath": ".status.nodes"},
        {"name": "Unplaced", "type": "integer", "jsonPath": ".status.unplaced"},
        {"name": "Domains", "type": "integer", "jsonPath": ".status.domains"},
        {"name": "Tiers", "type": "integer", "jsonPath": ".status.tiers"},
        {"name": "Reason", "type": "string", "jsonPath": f"{ready}.reason", "priority": 1},
        {"name": "Message", "type": "string", "jsonPath": f"{ready}.message", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]


def structural_schema() -> dict[str, Any]:
    """The schema in the form that the API server takes."""
    raw = ClusterTopology.model_json_schema(by_alias=True)
    schema = _structural(raw, raw.get("$defs", {}), "")
    properties = schema["properties"]
    properties["apiVersion"] = {"type": "string"}
    properties["kind"] = {"type": "string"}
    properties["metadata"] = {"type": "object"}
    return schema | {"required": ["spec"]}


def _structural(raw: Mapping[str, Any], definitions: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One level, its references resolved; `name` is the field that has it."""
    if "$ref" in raw:
        target = definitions[raw["$ref"].rpartition("/")[2]]
        raw = {**target, **{key: value for key, value in raw.items() if key != "$ref"}}
    choices = [choice for choice in raw.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return _structural({**choices[0], **_described(raw)}, definitions, name)
    if choices:
        return {"x-kubernetes-int-or-string": True, **_described(raw)}

    def inside(value: Mapping[str, Any], field: str) -> dict[str, Any]:
        return _structural(value, definitions, field)

    schema = {key: raw[key] for key in _KEPT if key in raw}
    return schema | _nested(raw, inside) | _list_type(raw, name)


def _described(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": raw["description"]} if "description" in raw else {}


def _nested(raw: Mapping[str, Any], inside: Callable[[Mapping[str, Any], str], dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "const" in raw:
        found["enum"] = [raw["const"]]
    if "properties" in raw:
        found["properties"] = {key: inside(value, key) for key, value in raw["properties"].items()}
    elif isinstance(raw.get("additionalProperties"), Mapping):
        found["additionalProperties"] = inside(raw["additionalProperties"], "")
    if "items" in raw:
        found["items"] = inside(raw["items"], "")
    return found


def _list_type(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    if raw.get("type") != "array":
        return {}
    key = _LIST_KEYS.get(name)
    return (
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
        if key
        else {"x-kubernetes-list-type": "atomic"}
    )


def editor_schema() -> dict[str, Any]:
    """JSON schema for editors: stricter than the custom resource, as it knows every field."""
    schema = ClusterTopology.model_json_schema(by_alias=True)
    schema["required"] = ["apiVersion", "kind", "metadata", "spec"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
