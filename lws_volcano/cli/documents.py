"""Kubernetes documents from files: YAML or JSON, several in a file, Lists, gzip, standard input, in any mix."""

import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from lws_volcano.api.cluster import Namespace, Node, PriorityClass, RuntimeClass
from lws_volcano.api.errors import InputError
from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import HyperNode, PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, DisaggregatedSet, LeaderWorkerSet

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

_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
_LARGEST: Final = 2**30


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as Kubernetes reads it: a date stays the text that it is in a label."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file; `where` names file and place for messages."""

    raw: Mapping[str, Any]
    where: str

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
    """Every object of the files, in their order; `-` is standard input.

    Raises
    ------
    InputError
        A file that can't be read, is no YAML or JSON, or holds something without a kind.
    """
    return [document for path in paths for document in _file(path)]


def _file(path: str) -> Iterator[Document]:
    text = _text(path)
    try:
        parsed = _parse(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(f"not YAML: {problem}", where=where, mend="correct the file") from None
    except RecursionError:
        raise InputError("nested too deeply", where=path, mend="correct the file") from None
    for number, raw in enumerate(parsed, start=1):
        if raw is not None:
            yield from _expand(raw, path if len(parsed) == 1 else f"{path} (document {number})")


def _parse(text: str) -> list[Any]:
    if re.match(r"\s*\{", text):
        try:
            return [json.loads(text)]
        except json.JSONDecodeError:
            pass  # several JSON documents, or YAML in flow style
    return list(yaml.load_all(text, Loader=_Loader))


def _text(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if data.startswith(_GZIP):
            data = zlib.decompressobj(_GZIP_WINDOW).decompress(data, _LARGEST + 1)
        if len(data) > _LARGEST:
            raise InputError("larger than 1 GiB", where=path, mend="split the file")
        return data.decode("utf-8-sig")
    except (OSError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"can't be read: {reason}", where=path, mend="check the path") from None
    except UnicodeDecodeError:
        raise InputError("is not text in UTF-8", where=path, mend="save it as UTF-8") from None


def _expand(raw: Any, where: str) -> Iterable[Document]:
    if not isinstance(raw, dict) or not isinstance(raw.get("kind"), str):
        raise InputError("holds no Kubernetes object", where=where, mend="every document needs apiVersion and kind")
    if raw["kind"].endswith("List") and isinstance(raw.get("items"), list):
        element = raw["kind"].removesuffix("List")
        for item in raw["items"]:
            # `kubectl get --raw` leaves the kind out of the items of a typed list
            named = {"kind": element, **item} if element and isinstance(item, dict) else item
            yield from _expand(named, where)
        return
    yield Document(raw, where)
