"""Keeps one store in step with the API server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from pydantic import ValidationError

from lws_volcano.kube.client import Client, Json
from lws_volcano.kube.lists import Listed, Page, Target
from lws_volcano.kube.watch import Bookmark, Event, Failing, Missing, Timing, Update, for_ever
from lws_volcano.observe import metrics
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind

__all__ = ["Reflector", "version_number"]

_log = structlog.get_logger(__name__)


@dataclass
class Reflector:
    """One kind, watched for as long as `run` runs.

    Attributes
    ----------
    progress
        Monotonic time of the last sign of life: a page, a change, a bookmark, an opened watch. None before the first.
    attempt
        Monotonic time of the last event of any kind, `Missing` and `Failing` too: it stands still when the task hangs.
    """

    client: Client
    cluster: Cluster
    kind: Kind[Any]
    timing: Timing
    progress: float | None = None
    attempt: float = field(init=False)
    _listed: list[tuple[Any, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.attempt = self.timing.clock.monotonic()

    async def run(self) -> None:
        """Feed the store; ends only by being cancelled."""
        kind = self.kind
        target = Target(resource=kind.resource, label_selector=kind.label_selector, field_selector=kind.field_selector)
        async for event in for_ever(self.client, target, self.timing):
            self.take(event)

    def take(self, event: Event) -> None:
        """Bring one event into the store and tell the listeners what it changed."""
        self.attempt = self.timing.clock.monotonic()
        if not isinstance(event, Missing | Failing):
            self.progress = self.attempt
        match event:
            case Page(items, first):
                self._collect(items, first)
            case Listed(version):
                self._replace(version_number(version))
            case Update(kind, item):
                self._update(kind, item)
            case Bookmark(version):
                self.kind.store.reach(version_number(version))
            case Missing(why):
                self._lose(why)

    def _collect(self, items: Sequence[Json], first: bool) -> None:
        if first:
            self._listed = []
        for item in items:
            view = self._parse(item)
            if view is not None:
                self._listed.append((view, _version(item)))

    def _replace(self, version: int) -> None:
        listed, self._listed = self._listed, []
        was_synced = self.kind.store.synced
        differences = self.kind.store.replace(listed, version)
        metrics.LISTS.labels(self.kind.name).inc()
        if not was_synced:
            _log.info("cache filled", resource=self.kind.name, objects=len(listed))
        self.cluster.changed(self.kind, differences)
        self.cluster.readiness_changed()

    def _update(self, kind: str, item: Json) -> None:
        metrics.WATCH_EVENTS.labels(self.kind.name).inc()
        store, version = self.kind.store, _version(item)
        view = None if kind == "DELETED" else self._parse(item)
        if view is None:
            metadata = item["metadata"]
            namespace, name = metadata.get("namespace"), metadata["name"]
            key = f"{namespace}/{name}" if namespace else name
            self.cluster.changed(self.kind, [store.remove(key, metadata.get("uid") or "", version)])
        else:
            self.cluster.changed(self.kind, [store.upsert(view, version)])

    def _lose(self, why: str) -> None:
        if self.kind.store.missing != why:
            log = _log.info if self.kind.optional else _log.warning
            log("cannot read, waiting", resource=self.kind.resource.rbac_name, why=why)
        self.cluster.changed(self.kind, self.kind.store.clear(why))
        self.cluster.readiness_changed()

    def _parse(self, item: Json) -> Any:
        try:
            return self.kind.parse(item)
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            name = (item.get("metadata") or {}).get("name")
            _log.error("object passed over", resource=self.kind.name, name=name, error=str(error)[:256])
            return None


def version_number(version: str) -> int:
    """A resource version as a number; 0 for one that is none, and then only the order of arrival counts."""
    return int(version) if version.isdecimal() else 0


def _version(item: Json) -> int:
    return version_number(str((item.get("metadata") or {}).get("resourceVersion") or ""))
