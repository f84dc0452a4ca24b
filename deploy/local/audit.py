"""Writes as the API server counted them, from its audit log."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Write", "read_writes"]


@dataclass(frozen=True)
class Write:
    """One request that could change something.

    Attributes
    ----------
    user, agent : str
        User name (of the client certificate) and user agent.
    verb : str
        create, update, patch, delete, deletecollection.
    resource : str
        Plural name, with the sub-resource after a slash.
    namespace, name : str
        The object; the name is empty for a create.
    code : int
        HTTP status of the answer.
    time : str
        When it was answered, RFC 3339 with microseconds.
    dry_run : bool
        Nothing was kept.
    """

    user: str
    agent: str
    verb: str
    resource: str
    namespace: str
    name: str
    code: int
    time: str
    dry_run: bool


def read_writes(log: Path) -> list[Write]:
    """Every write in the log; a line that is being written is left for the next time."""
    try:
        lines = log.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    return [_write(json.loads(line)) for line in lines]


def _write(raw: dict[str, Any]) -> Write:
    of = raw.get("objectRef") or {}
    sub = of.get("subresource")
    return Write(
        user=raw["user"].get("username", ""),
        agent=raw.get("userAgent", ""),
        verb=raw["verb"],
        resource=f"{of.get('resource', '')}/{sub}" if sub else of.get("resource", ""),
        namespace=of.get("namespace", ""),
        name=of.get("name", ""),
        code=int((raw.get("responseStatus") or {}).get("code", 0)),
        time=raw["stageTimestamp"],
        dry_run="dryRun=" in raw.get("requestURI", ""),
    )
