"""Kubernetes documents from files: YAML or JSON, several in a file, Lists, gzip, standard input, in any mix."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from lws_volcano.api.cluster import Namespace, Node, PriorityClass, RuntimeClass
from lws_volcano.api.errors import InputError
from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import HyperNode, PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, DisaggregatedSet, LeaderWorkerSet
from lws_volcano.cli.files import read_bytes, shown
from lws_volcano.topology.findings import Origin
from lws_volcano.topology.schema import KIND
from lws_volcano.topology.text import located

__all__ = ["VIEWS", "Document", "read_documents"]

VIEWS: Final[Mapping[str, type[Object]]] = {
    "ControllerRevision": ControllerRevision,
    "DisaggregatedSet": DisaggregatedSet,
    "HyperNode": HyperNode,
    "LeaderWorkerSet": LeaderWorkerSet,
    "Namespace": Namespace,
    "Node": Node,
    "Pod": Pod,
    "PodGroup": PodGroup,
    "PriorityClass": PriorityClass,
    "Queue": Queue,
    "RuntimeClass": RuntimeClass,
}
"""Kinds that `plan` reads; ClusterTopology has a reader of its own (`topology.file`)."""

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
_LARGEST: Final = 2**30
_BLANKS: Final = re.compile(r"\s*")
_CONTENT: Final = re.compile(r"^(?!---|\.\.\.)[ \t]*[^#\s]", re.MULTILINE)
"""A line with anything but a comment or the mark between documents."""

_Value = tuple[Any, str, Origin]
"""A decoded document, its place, and the origin of its fields."""


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file; `where` names file and line for messages, `origin` knows more where lines are kept."""

    raw: Mapping[str, Any]
    where: str
    origin: Origin

    @property
    def kind(self) -> str:
        """Kind as written."""
        return str(self.raw.get("kind") or "")

    def view(self) -> Object:
        """The object as its slim view.

        Raises
        ------
        InputError
            A field has another type than the API gives it.
        """
        try:
            return VIEWS[self.kind].parse(self.raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise InputError(
                f"{self.kind} {self.name}: {field}: {first['msg']}", where=self.where, mend="correct this field"
            ) from None

    @property
    def name(self) -> str:
        """Name for messages, `?` without one."""
        return str((self.raw.get("metadata") or {}).get("name") or "?")


def read_documents(paths: Sequence[str]) -> list[Document]:
    """Every object of the files, in their order; `-` is standard input, a directory its manifests by name.

    Raises
    ------
    InputError
        A file that can't be read, is no YAML or JSON, or holds something without a kind.
    """
    return [document for path in paths for file in _files(path) for document in _objects(_text(file), shown(file))]


def _files(path: str) -> list[str]:
    """As `kubectl apply -f` takes a directory: not what is below it."""
    folder = Path(path)
    try:
        if path == "-" or not folder.is_dir():
            return [path]
        found = sorted(str(file) for file in folder.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", where=path, mend="check the path") from None
    if not found:
        raise InputError("holds no .yaml, .yml or .json file", where=path, mend="name the files")
    return found


def _objects(text: str, name: str) -> Iterator[Document]:
    values = _json(text, name)
    found = values if values is not None else _yaml(text, name)
    if not found and not _CONTENT.search(text):
        raise InputError("is empty", where=name, mend="every document needs apiVersion and kind")
    for value, where, origin in found:
        yield from _expand(value, where, origin)


def _json(text: str, name: str) -> list[_Value] | None:
    """Values of JSON text, one after the other; None when it is something else, such as YAML in flow style."""
    decoder, values, at = json.JSONDecoder(), [], _after_blanks(text, 0)
    if not text.startswith("{", at):
        return None
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            values.append(value)
            at = _after_blanks(text, at)
    except json.JSONDecodeError as error:
        if not name.endswith(".json"):
            return None
        raise InputError(f"is not JSON: {error.msg}", where=f"{name}:{error.lineno}", mend="correct the line") from None
    except RecursionError:
        raise InputError("nested too deeply", where=name, mend="correct the file") from None
    places = [name] if len(values) == 1 else [f"{name} (document {number})" for number in range(1, len(values) + 1)]
    return [(value, where, Origin(where)) for value, where in zip(values, places, strict=True)]


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _yaml(text: str, name: str) -> list[_Value]:
    """Values of YAML text, the items of Lists each by itself; only topologies keep all their lines."""
    found: list[_Value] = []
    for one in located(text, name):
        where = f"{name}:{one.origin.line(())}"
        whole = isinstance(one.value, dict) and one.value.get("kind") == KIND
        found.append((one.value, where, one.origin if whole else Origin(where)))
    return found


def _text(path: str) -> str:
    data, name = read_bytes(path), shown(path)
    try:
        if data.startswith(_GZIP):
            unpacked = zlib.decompressobj(_GZIP_WINDOW)
            data = unpacked.decompress(data, _LARGEST + 1)
            if not unpacked.eof and len(data) <= _LARGEST:
                raise InputError(
                    "ends in the middle of its gzip data", where=name, mend="check that it was copied whole"
                )
        if len(data) > _LARGEST:
            raise InputError("larger than 1 GiB", where=name, mend="split the file")
        return data.decode("utf-8-sig")
    except zlib.error as error:
        raise InputError(f"can't be read: {error}", where=name, mend="check that it is a gzip file") from None
    except UnicodeDecodeError:
        raise InputError("is not text in UTF-8", where=name, mend="save it as UTF-8") from None


def _expand(raw: Any, where: str, origin: Origin) -> Iterator[Document]:
    if not isinstance(raw, dict) or not isinstance(raw.get("kind"), str):
        raise InputError("holds no Kubernetes object", where=where, mend="every document needs apiVersion and kind")
    if raw["kind"].endswith("List") and isinstance(raw.get("items"), list):
        element = raw["kind"].removesuffix("List")
        for item in raw["items"]:
            # `kubectl get --raw` leaves the kind out of the items of a typed list
            named = {"kind": element, **item} if element and isinstance(item, dict) else item
            yield from _expand(named, where, origin)
        return
    yield Document(raw, where, origin)
