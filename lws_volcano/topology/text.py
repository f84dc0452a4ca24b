"""Bytes of a YAML or JSON file to values that know their lines.

Scalars are read by the core schema of YAML 1.2: `010` and `on` stay the names that they are, dates stay text. Keys that
stand twice in one mapping are refused. Files may be gzipped, have a BOM, and hold several documents.
"""

import gzip
import io
import re
import zlib
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import FieldPath, Origin, field_name

__all__ = ["FileOrigin", "Located", "decode", "documents", "located"]

MAX_BYTES: Final = 128 * 1024 * 1024
"""Largest text, after unpacking."""
_PIECE: Final = 1024 * 1024

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BaseLoader):  # type: ignore[misc]
    """Safe loader with YAML 1.2 scalars that refuses repeated keys."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's way

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key {key.value!r} stands twice", key.start_mark
                    )
                seen.add(key.value)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return mapping


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"-?(?:0|[1-9][0-9]{0,18})", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]{0,18})\.[0-9]+", list("-0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first)


@dataclass(frozen=True, slots=True)
class FileOrigin(Origin):
    """A document of a file; lines are looked up when a finding needs one."""

    node: yaml.Node | None = None
    prefix: FieldPath = ()

    def where(self, path: FieldPath) -> str:
        """`file:line`, or the field where there is no line."""
        line = self.line(path) if path else 0
        return f"{self.name}:{line}" if line else f"{self.name} {field_name(path)}".strip()

    def line(self, path: FieldPath) -> int:
        """Line of a value, or of the nearest thing around it that the file has; 0 when nothing is known."""
        node, mark = self.node, self.node.start_mark if self.node is not None else None
        for step in (*self.prefix, *path):
            found = _step(node, step)
            if found is None:
                break
            mark, node = found[0].start_mark, found[1]
        return mark.line + 1 if mark is not None else 0


def _step(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The node whose line names the value, and the value."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None


@dataclass(frozen=True, slots=True)
class Located:
    """A decoded document and where it stands."""

    value: Any
    origin: FileOrigin


def decode(data: bytes, name: str) -> str:
    """Text of a file: unpacked, without BOM.

    Raises
    ------
    TopologyError
        Broken gzip, too large, or not text.
    """
    text: bytes | bytearray = _unpack(data, name) if data[:2] == b"\x1f\x8b" else data
    if len(text) > MAX_BYTES:
        raise TopologyError(
            f"is larger than {MAX_BYTES // 2**20} MiB", name, "write host ranges instead of single nodes"
        )
    wide = text.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return text.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise TopologyError(f"is not UTF-8 text (byte {error.start})", name, "save it as UTF-8") from None


def _unpack(data: bytes, name: str) -> bytes | bytearray:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            # Piece by piece: some Pythons hold what is read in one go twice.
            found = bytearray()
            while len(found) <= MAX_BYTES and (piece := packed.read(_PIECE)):
                found += piece
            return found
    except (OSError, EOFError, zlib.error) as error:
        raise TopologyError(f"cannot be unpacked: {error}", name, "check that it was copied whole") from None


def documents(data: bytes, name: str) -> list[Located]:
    """All documents of a YAML or JSON file; the items of a `List` count as documents, empty ones are left out.

    Raises
    ------
    TopologyError
        Not YAML, with the line.
    """
    return located(decode(data, name), name)


def located(text: str, name: str) -> list[Located]:
    """As `documents`, from text.

    Raises
    ------
    TopologyError
        Not YAML, with the line.
    """
    try:
        return [found for value, node in _load(text) for found in _split(value, FileOrigin(name, node))]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark is not None else name
        raise TopologyError(f"is not YAML: {error.problem or error.context}", where, "correct the line") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise TopologyError(f"is not YAML: {first[:200]}", name, "check that it is a text file") from None


def _load(text: str) -> Iterator[tuple[Any, yaml.Node]]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            yield loader.construct_document(node), node
    finally:
        loader.dispose()


def _split(value: Any, origin: FileOrigin) -> Iterator[Located]:
    if value is None:
        return
    items = value.get("items") if isinstance(value, dict) and str(value.get("kind", "")).endswith("List") else None
    if not isinstance(items, list):
        yield Located(value, origin)
        return
    element = value["kind"].removesuffix("List")
    for at, item in enumerate(items):
        # a typed list from the API leaves the kind of its items out
        named = {"kind": element, **item} if element and isinstance(item, dict) else item
        yield Located(named, FileOrigin(origin.name, origin.node, ("items", at)))
