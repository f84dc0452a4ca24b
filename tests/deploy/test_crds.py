"""Our small CRDs against the projects' own.

Covers: names, scope, sub-resources, printer columns, and for every field that we have the same type, format, default,
enum, range and list type; what we leave out is listed here. Skips where the reference files are not at hand.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.local.crds import documents

REFERENCE = Path(__file__).parents[2].parent / "shared" / "crds"
FACTS = (
    "type", "format", "default", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
    "anyOf", "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)  # fmt: skip
LEFT_OUT = {
    "queues.scheduling.volcano.sh": {"spec.affinity", "spec.extendClusters", "status.reservation"},
}
OPEN = {"spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"}
OPEN_ITEMS = {"spec.leaderWorkerTemplate.volumeClaimTemplates"}


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field below a schema with its dotted path."""
    for name, field in schema.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        yield at, field
        if at in OPEN or at in OPEN_ITEMS:
            continue
        yield from _fields(field, at)
        for inner in ("items", "additionalProperties"):
            if isinstance(field.get(inner), dict):
                yield f"{at}[]", field[inner]
                yield from _fields(field[inner], f"{at}[]")


def _schema(document: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


@pytest.fixture(params=documents(), ids=lambda document: document["spec"]["names"]["plural"])
def pair(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """One of our CRDs and the original."""
    ours = request.param
    names = ours["spec"]["names"]
    file = REFERENCE / f"{ours['spec']['group']}_{names['plural']}.yaml"
    if not file.exists():
        pytest.skip(f"the reference CRD {file} is not here")
    return ours, _reference(file)


@cache
def _reference(file: Path) -> dict[str, Any]:
    """A reference document, with the quick loader where there is one: the file has 18,000 lines."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(file.read_text())
    document: dict[str, Any] = loader.get_single_data()
    return document


def test_kind_and_sub_resources_are_the_same(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Group, names, scope, version, sub-resources and columns."""
    ours, theirs = (document["spec"] for document in pair)
    assert (ours["group"], ours["names"], ours["scope"]) == (theirs["group"], theirs["names"], theirs["scope"])
    ours, theirs = ours["versions"][0], theirs["versions"][0]
    for part in ("name", "served", "storage", "subresources"):
        assert ours[part] == theirs[part]
    assert [sorted(column.items()) for column in ours["additionalPrinterColumns"]] == [
        sorted((key, value) for key, value in column.items() if key != "description")
        for column in theirs["additionalPrinterColumns"]
    ]


def test_our_fields_are_as_in_the_original(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Same facts about every field; required ones too, but for what the open templates hide."""
    ours, theirs = (dict(_fields(_schema(document))) for document in pair)
    assert ours.keys() <= theirs.keys()
    for path, field in ours.items():
        other = theirs[path]
        assert {fact: field.get(fact) for fact in FACTS} == {fact: other.get(fact) for fact in FACTS}, path
        assert sorted(field.get("required", ())) == sorted(other.get("required", ())), path


def test_what_we_leave_out_is_known(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Nothing is missing by oversight."""
    ours, theirs = (dict(_fields(_schema(document))) for document in pair)
    known = LEFT_OUT.get(pair[0]["metadata"]["name"], set())
    missing = {path for path in theirs if path not in ours}
    assert {path for path in missing if not any(path == one or path.startswith((one + ".", one + "["))
                                                for one in known)} == set()  # fmt: skip
