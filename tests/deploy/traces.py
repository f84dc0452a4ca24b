"""The recorded traces of the real controllers, replayed in the order of their resource versions."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Json", "events", "recorded", "states"]

FOLDER = Path(__file__).parents[2].parent / "shared" / "traces"
Json = dict[str, Any]


def events(name: str) -> list[Json]:
    """Events of one trace, in order of resource version; actions are left out. Skips where the file is not at hand."""
    file = FOLDER / name
    if not file.exists():
        pytest.skip(f"the recorded trace {file} is not here")
    lines = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).splitlines()
    found = [json.loads(line) for line in lines]
    changes = [event for event in found if event["type"] in {"ADDED", "MODIFIED", "DELETED"}]
    return sorted(changes, key=lambda event: int(event["object"]["metadata"]["resourceVersion"]))


def recorded(name: str, resource: str, type_: str = "ADDED") -> dict[str, Json]:
    """Objects of one resource as a trace first shows them with this type of event, by name."""
    found: dict[str, Json] = {}
    for event in events(name):
        if event["resource"] == resource and event["type"] == type_:
            found.setdefault(event["object"]["metadata"]["name"], event["object"])
    return found


def states(name: str) -> Iterator[tuple[Json, dict[str, dict[str, Json]]]]:
    """Each event with the world just before it: resource -> name -> object; it is updated in place."""
    world: dict[str, dict[str, Json]] = {}
    for event in events(name):
        yield event, world
        store = world.setdefault(event["resource"], {})
        if event["type"] == "DELETED":
            store.pop(event["object"]["metadata"]["name"], None)
        else:
            store[event["object"]["metadata"]["name"]] = event["object"]
