"""Finds out which topology is in use, on every replica, whenever what it depends on has changed.

ClusterTopologies, mounted files and the labels of nodes change together (a rack joins, a ConfigMap is updated): a
change is waited on for a moment, then everything is resolved once, in a thread. Nodes and bound pods are watched only
once there is a topology: only then is it worth the memory.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from lws_volcano.api.settings import Settings
from lws_volcano.kube.clock import Clock
from lws_volcano.observe import metrics
from lws_volcano.state.capacity_feed import CapacityFeed
from lws_volcano.state.catalog import Catalog, Entry, Resolution
from lws_volcano.state.cluster import Cluster, Key
from lws_volcano.state.kinds import Kind
from lws_volcano.state.places import Places
from lws_volcano.state.promises import Promises
from lws_volcano.state.store import Difference
from lws_volcano.state.topology_given import TopologyFiles, given_topologies
from lws_volcano.topology.membership import is_ours

__all__ = ["TopologyFollower"]

_log = structlog.get_logger(__name__)

QUIET: Final = 0.3
"""Seconds in which changes are collected."""
SHARE: Final = 4.0
"""So many times as long as the last resolution took, at least, until the next."""
LOOK_AT_FILES: Final = 2.0
"""Seconds between two looks at mounted files."""
SWEEP: Final = 5.0
"""Seconds between two looks at the places that are held."""


@dataclass
class TopologyFollower:
    """Keeps `cluster.resolution` and the capacity's topology up to date; `look_at` takes the keys that depend on it."""

    cluster: Cluster
    settings: Settings
    clock: Clock
    files: TopologyFiles | None
    look_at: Callable[[Iterable[Key]], None]
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once there is a topology, or something left of one."""
    _dirty: asyncio.Event = field(default_factory=asyncio.Event)
    _took: float = 0.0

    def __post_init__(self) -> None:
        self.feed = CapacityFeed(self.cluster)
        self.promises = Promises(self.cluster, self.settings, self.feed.current)
        self.cluster.places = Places(self.cluster, self.settings, self.feed.current).of
        self.cluster.topology_pending = self.pending
        self._catalog = Catalog()
        self._known = False
        self.cluster.listen(self._changed)
        self.cluster.on_readiness(self._dirty.set)
        if self.files is not None:
            self.wanted.set()

    def parts(self) -> dict[str, Coroutine[Any, Any, None]]:
        """What runs on every replica, and until the end."""
        looking = {"topology-files": self._follow_files(self.files)} if self.files is not None else {}
        return {"topology": self._resolve_for_ever(), "places": self._sweep(), **looking}

    def unready(self) -> str:
        """Why no hint can be given although there is a topology; empty when all is well."""
        kinds = self.cluster.kinds
        if not self.wanted.is_set():
            return ""
        waiting = [kind.name for kind in (kinds.nodes, kinds.assigned) if not (kind.store.synced or kind.store.missing)]
        if waiting:
            return f"waiting for {', '.join(waiting)}"
        resolved = self.cluster.resolution.settled or not self._complete()
        return "" if resolved else "the topology is being resolved"

    def pending(self) -> bool:
        """A topology is given, and what comes of it, as it is now, is not known yet."""
        kinds, resolution = self.cluster.kinds, self.cluster.resolution
        if kinds.nodes.store.missing or not self.wanted.is_set():
            return False
        return not resolution.settled or any(
            one.key not in resolution.entries or resolution.entries[one.key].given.generation != one.generation
            for one in kinds.topologies.store
        )

    def _changed(self, kind: Kind[Any], difference: Difference[Any]) -> None:
        kinds = self.cluster.kinds
        if kind is kinds.topologies:
            self.wanted.set()
            self._dirty.set()
        elif kind is kinds.nodes:
            if _moved(difference):
                self._dirty.set()
        elif kind is kinds.hyper_nodes:
            self._hyper_node(difference)

    def _hyper_node(self, difference: Difference[Any]) -> None:
        read = self.settings.hyper_nodes == "read"
        ours = is_ours(difference.either)
        if ours or read:
            self.wanted.set()
        if read and not ours:
            self._dirty.set()

    async def _resolve_for_ever(self) -> None:
        while True:
            await self._dirty.wait()
            await self.clock.sleep(max(QUIET, SHARE * self._took))
            self._dirty.clear()
            if self._complete():
                started = self.clock.monotonic()
                await self._attempt()
                self._took = self.clock.monotonic() - started

    async def _attempt(self) -> None:
        try:
            resolution = await self._resolve()
        except Exception:  # noqa: BLE001 - no document may keep the gangs from their controller
            _log.exception("topologies could not be resolved, what was in use stays")
            return
        self._adopt(resolution)

    def _complete(self) -> bool:
        kinds = self.cluster.kinds
        return kinds.nodes.store.synced and (kinds.topologies.store.synced or bool(kinds.topologies.store.missing))

    async def _resolve(self) -> Resolution:
        kinds = self.cluster.kinds
        records, nodes = tuple(kinds.topologies.store), tuple(kinds.nodes.store)
        foreign = [one for one in kinds.hyper_nodes.store if not is_ours(one)]
        read = foreign if self.settings.hyper_nodes == "read" else []

        def resolve() -> Resolution:
            return self._catalog.resolve(given_topologies(records, self.files, read, nodes), nodes)

        return await asyncio.to_thread(resolve)

    def _adopt(self, resolution: Resolution) -> None:
        before = self.cluster.resolution
        self.cluster.resolution = resolution
        changed = self.feed.use(resolution.topology)
        _tell(before, resolution)
        keys = self.cluster.topology_keys()
        if changed and _tiers(before) != _tiers(resolution):
            keys += self.cluster.lws_keys()
        self.look_at(keys)

    async def _follow_files(self, files: TopologyFiles) -> None:
        seen: Sequence[object] | None = None
        while True:
            now = await asyncio.to_thread(files.signature)
            if now != seen:
                seen = now
                self._dirty.set()
            await self.clock.sleep(LOOK_AT_FILES)

    async def _sweep(self) -> None:
        await self.wanted.wait()
        while True:
            known = self.feed.current() is not None
            if known and not self._known:
                self.promises.take_over()
            self._known = known
            for key in self.promises.sweep(self.clock.monotonic()):
                _log.info("place given up", group=key)
            await self.clock.sleep(SWEEP if known else QUIET)


def _moved(difference: Difference[Any]) -> bool:
    """The node came, went, or has other labels: heartbeats and conditions do not move it."""
    old, new = difference.old, difference.new
    return old is None or new is None or old.metadata.labels != new.metadata.labels


def _tiers(resolution: Resolution) -> object:
    topology = resolution.topology
    return None if topology is None else (topology.tiers, topology.top_tier)


def _tell(before: Resolution, after: Resolution) -> None:
    """The log and the metrics, where something is new."""
    for name, entry in after.entries.items():
        metrics.TOPOLOGY_READY.labels(name).set(
            float(not entry.refused and bool(entry.topology and entry.topology.nodes))
        )
        metrics.TOPOLOGY_NODES.labels(name).set(len(entry.topology.nodes) if entry.topology is not None else 0)
        if _words(entry) != _words(before.entries.get(name)):
            (_log.warning if entry.refused else _log.info)("topology", name=name, **_words(entry))
    for name in before.entries.keys() - after.entries.keys():
        metrics.TOPOLOGY_READY.remove(name)
        metrics.TOPOLOGY_NODES.remove(name)
        _log.info("topology gone", name=name)


def _words(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {}
    topology = entry.topology
    words: dict[str, Any] = {"nodes": len(topology.nodes) if topology is not None else 0}
    if entry.given.origin:
        words["file"] = entry.given.origin
    if entry.refused:
        words["error"] = str(entry.findings[0]) if entry.findings else "no node of the cluster is in a domain"
        words["in_use"] = "the last good one" if topology is not None else "none"
    return words
