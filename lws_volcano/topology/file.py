"""ClusterTopology documents from files and the API server: checked against the schema, with what is wrong and where."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import FieldPath, Finding, InvalidTopologyError, Origin, Report
from lws_volcano.topology.schema import KIND, ClusterTopology
from lws_volcano.topology.text import Located, documents

__all__ = ["Source", "parse_document", "parse_nodes", "parse_topologies"]

_WANTED: Final = {
    "string_type": ("should be text", "put it in quotes"),
    "int_type": ("should be a name or a whole number", "correct the value"),
    "int_from_float": ("should be a name or a whole number", "correct the value"),
    "model_type": ("should be a mapping", "write its fields below it"),
    "dict_type": ("should be a mapping", "write its fields below it"),
    "tuple_type": ("should be a list", "write one entry a line, each after a dash"),
}
_IMPORT: Final = "`lws-volcano topology import` reads other formats"


@dataclass(frozen=True, slots=True)
class Source:
    """A document that agrees with the schema, and where it comes from."""

    document: ClusterTopology
    origin: Origin
    findings: tuple[Finding, ...] = ()


def parse_topologies(data: bytes, name: str, *, keep_going: bool = False) -> list[Source]:
    """All ClusterTopology documents of a file; documents of other kinds beside them are passed over.

    Raises
    ------
    TopologyError
        Not YAML or JSON, or no ClusterTopology in it.
    InvalidTopologyError
        A document that does not agree with the schema.
    """
    found = documents(data, name)
    kinds = {_kind(located.value) for located in found}
    wanted = [located for located in found if _kind(located.value) == KIND]
    if not found:
        raise TopologyError("is empty", name, f"write a {KIND} document; {_IMPORT}")
    if not wanted:
        seen = ", ".join(sorted(kind or "something without a kind" for kind in kinds))
        raise TopologyError(f"has no {KIND}, but {seen}", name, f"set kind: {KIND}; {_IMPORT}")
    return [parse_document(located.value, located.origin, keep_going=keep_going) for located in wanted]


def parse_nodes(data: bytes, name: str) -> list[Node] | None:
    """The Node documents of a file, None when it has none.

    Raises
    ------
    TopologyError
        Not YAML or JSON, or a node that is none.
    """
    wanted = [located for located in documents(data, name) if _kind(located.value) == "Node"]
    return [_node(located) for located in wanted] or None


def _node(located: Located) -> Node:
    try:
        node = Node.parse(located.value)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(first["loc"])
        raise TopologyError(f"not a Node: {first['msg']}", located.origin.where(path), "correct the value") from None
    if not node.name:
        raise TopologyError("a Node without metadata.name", located.origin.where(("metadata",)), "give it a name")
    return node


def _kind(value: Any) -> str:
    return str(value.get("kind", "")) if isinstance(value, Mapping) else ""


def parse_document(raw: Any, origin: Origin, *, keep_going: bool = False) -> Source:
    """A decoded ClusterTopology.

    With `keep_going`, domains, overrides and labels that do not agree with the schema are left out and reported.

    Raises
    ------
    InvalidTopologyError
        It does not agree with the schema (in a part that cannot be left out, when `keep_going` is given).
    """
    try:
        return Source(ClusterTopology.model_validate(raw), origin)
    except ValidationError as error:
        report = Report(origin)
        details = error.errors(include_url=False)
        _report(details, raw, report)
        faulty = {_entry(tuple(detail["loc"])) for detail in details}
    whole = {entry for entry in faulty if entry is not None}
    if not keep_going or None in faulty:
        raise InvalidTopologyError(report.findings)
    kept, moved = _without(raw, whole)
    try:
        return Source(ClusterTopology.model_validate(kept), Moved(origin.name, origin, moved), tuple(report.findings))
    except ValidationError:
        raise InvalidTopologyError(report.findings) from None


@dataclass(frozen=True, slots=True)
class Moved(Origin):
    """Origin of a document of which list entries were left out: index now -> index in the file."""

    inner: Origin = field(default_factory=Origin)
    entries: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def where(self, path: FieldPath) -> str:
        """Words for the place of a value in the document as it was."""
        match path:
            case ("spec", str(name), int(at), *rest) if name in self.entries:
                return self.inner.where(("spec", name, self.entries[name][at], *rest))
        return self.inner.where(path)


def _entry(path: FieldPath) -> tuple[str, int] | None:
    """The list entry that a fault is in, if the document can do without it."""
    match path:
        case ("spec", "domains" | "overrides" | "nodeLabels" as name, int(at), *_):
            return str(name), at
    return None


def _without(
    raw: Mapping[str, Any], faulty: Iterable[tuple[str, int]]
) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    spec = dict(raw["spec"])
    moved: dict[str, tuple[int, ...]] = {}
    for name in {name for name, _ in faulty}:
        gone = {at for other, at in faulty if other == name}
        moved[name] = tuple(at for at in range(len(spec[name])) if at not in gone)
        spec[name] = [spec[name][at] for at in moved[name]]
    return {**raw, "spec": spec}, moved


def _report(details: Iterable[ErrorDetails], raw: Any, report: Report) -> None:
    """One finding for each place that pydantic complains about, in the words of the document."""
    told: set[FieldPath] = set()
    for detail in details:
        path = _real(tuple(detail["loc"]), raw)
        if detail["type"] == "missing":
            what, mend = f"{detail['loc'][-1]!r} is missing", "add it"
        elif path in told:
            continue
        elif detail["type"] == "extra_forbidden":
            what, mend = _unknown_field(path)
        else:
            what, mend = _bad_value(detail, path)
        told.add(path)
        report.error(what, path, domain=_domain(path, raw), mend=mend)


def _bad_value(detail: ErrorDetails, path: FieldPath) -> tuple[str, str]:
    field_at = ".".join(str(step) for step in path if not isinstance(step, int)) or "the document"
    wanted, mend = _WANTED.get(detail["type"], (detail["msg"][:1].lower() + detail["msg"][1:], "correct the value"))
    return f"{field_at} {wanted}, not {_shown(detail['input'])}", mend


def _shown(value: Any) -> str:
    """A scalar as written; of a container only the kind, because aliases can make its text as long as they like."""
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else repr(str(value)[:40])


def _real(location: FieldPath, raw: Any) -> FieldPath:
    """The part of pydantic's location that exists in the document (it adds the names of union members)."""
    path: list[str | int] = []
    value = raw
    for step in location:
        inside = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not inside:
            break
        value = value[step]
        path.append(step)
    return tuple(path)


def _unknown_field(path: FieldPath) -> tuple[str, str]:
    model = _model_at(path[:-1])
    known = [field.alias or name for name, field in model.model_fields.items()] if model else []
    near = difflib.get_close_matches(str(path[-1]), known, n=1)
    return f"unknown field {path[-1]!r}", f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def _model_at(path: FieldPath) -> type[BaseModel] | None:
    """Model of the mapping at a path of field names and list indices."""
    model: type[BaseModel] | None = ClusterTopology
    for step in path:
        if isinstance(step, str) and model is not None:
            model = next((_model(f.annotation) for n, f in model.model_fields.items() if (f.alias or n) == step), None)
    return model


def _model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in getattr(annotation, "__args__", ()) if (found := _model(part)) is not None), None)


def _domain(path: FieldPath, raw: Any) -> str:
    match path:
        case ("spec", "domains", int(at), *_):
            entry = raw["spec"]["domains"][at]
            return str(entry.get("name", "")) if isinstance(entry, dict) else ""
    return ""
