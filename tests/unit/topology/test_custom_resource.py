"""The generated CRD and editor schema: no drift, and what the API server demands of a structural schema."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lws_volcano.topology.custom_resource import custom_resource_definition, editor_schema, structural_schema

ROOT = Path(__file__).resolve().parents[3]


def test_files_are_up_to_date() -> None:
    """`python crds/generate.py` would change nothing."""
    written = (ROOT / "crds" / "clustertopologies.lws-volcano.io.yaml").read_text()
    assert yaml.safe_load(written) == custom_resource_definition()
    assert json.loads((ROOT / "topology" / "schema.json").read_text()) == editor_schema()


def walk(schema: dict[str, Any], path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """All levels of a schema."""
    found = [(path, schema)]
    for name, inner in schema.get("properties", {}).items():
        found += walk(inner, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            found += walk(schema[keyword], f"{path}.{keyword}")
    return found


@pytest.mark.parametrize(
    ("path", "level"), walk(structural_schema()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_schema_is_structural(path: str, level: dict[str, Any]) -> None:
    """Every level has a type, is described, and uses nothing that a CRD may not."""
    assert ("type" in level) != ("x-kubernetes-int-or-string" in level)
    assert not level.keys() & {"$ref", "$defs", "anyOf", "allOf", "const", "title", "default"}
    assert not ("properties" in level and "additionalProperties" in level)
    if level.get("x-kubernetes-list-type") == "map":
        assert set(level["x-kubernetes-list-map-keys"]) <= set(level["items"]["required"])
    if path.startswith((".spec", ".status")) and not path.endswith(("items", "additionalProperties")):
        assert level["description"]
