"""YAML and JSON text to values: a key given twice is refused, errors name the line, large JSON is read fast."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology import text as located
from lws_volcano.topology.importers.source import Source

__all__ = ["documents", "json_values", "mapping", "sequence", "single", "text_of"]

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_HAND_WRITTEN: Final = 1_000_000
"""Letters of the largest text that may be YAML though it starts like JSON; reading it as such takes a while."""
_BLANK: Final = re.compile(r"\s*")


def documents(source: Source) -> list[Any]:
    """Every object of the text: YAML documents or JSON values that hold anything, Lists taken apart.

    Raises
    ------
    TopologyError
        Neither YAML nor JSON, or a key given twice.
    """
    if source.text.lstrip()[:1] in ("{", "["):
        try:
            return [item for value in json_values(source) for item in _items(value)]
        except TopologyError:
            if len(source.text) > _HAND_WRITTEN:
                raise
            # YAML in flow style, perhaps; if it is none either, the reader below says where it breaks
    return [item for found in located.documents(source.text.encode(), source.name) for item in _items(found.value)]


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and str(value.get("kind", "")).endswith("List") and isinstance(value.get("items"), list):
        element = value["kind"].removesuffix("List")
        # `kubectl get --raw` leaves the kind out of the items of a typed list
        yield from (
            {"kind": element, **item} if element and isinstance(item, dict) else item for item in value["items"]
        )
    elif value is not None:
        yield value


def json_values(source: Source) -> list[Any]:
    """Every JSON value of the text, one after the other.

    Raises
    ------
    TopologyError
        Not JSON, or a key given twice.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    return list(_values(decoder, source))


def _values(decoder: json.JSONDecoder, source: Source) -> Iterator[Any]:
    text, at = source.text, 0
    while (at := at + len(_BLANK.match(text, at)[0])) < len(text):  # type: ignore[index] # it matches anywhere
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise TopologyError(f"not JSON: {error.msg}", source.at(error.lineno), "correct the file") from None
        except RecursionError:
            raise TopologyError("not JSON: nested too deeply", source.name, "correct the file") from None
        except _TwiceError as error:
            raise TopologyError(f"{str(error)[:80]} is given twice in one object", source.name, "keep one") from None
        if _HALF.search(text):
            _check_text(value, source)
        yield value


def _check_text(value: Any, source: Source) -> None:
    """Refuse halves of characters, which JSON can spell and nothing else can write."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise TopologyError("has half a character (\\ud800 to \\udfff alone)", source.name, "correct it") from None


class _TwiceError(Exception):
    """A key is given twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _TwiceError(key)
            seen.add(key)
    return found


def single(source: Source, what: str) -> Any:
    """The one document of the text, none when there is no document at all.

    Raises
    ------
    TopologyError
        There are several, or it can't be read.
    """
    found = documents(source)
    if len(found) > 1:
        raise TopologyError(f"{len(found)} documents in one file", source.name, f"give one {what}")
    return found[0] if found else None


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """`value` as a mapping with text keys; nothing at all is an empty one.

    Raises
    ------
    TopologyError
        It is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TopologyError(f"expected a mapping, got {_short(value)}", where, "check the indentation and the format")
    return {text_of(key, where): entry for key, entry in value.items()}


def sequence(value: Any, where: str) -> list[Any]:
    """`value` as a list; nothing at all is an empty one.

    Raises
    ------
    TopologyError
        It is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise TopologyError(f"expected a list, got {_short(value)}", where, "check the indentation and the format")
    return value


def text_of(value: Any, where: str) -> str:
    """`value` as text; YAML makes a number of a name such as 12, and a name it stays.

    Raises
    ------
    TopologyError
        It is no text and no whole number.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TopologyError(
            f"expected a name, got {_short(value)}", where, "put names that look like numbers in quotes"
        )
    return str(value)


def _short(value: Any) -> str:
    kinds = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return kinds.get(type(value)) or repr(value)[:60]
