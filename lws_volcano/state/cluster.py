"""All stores, and which keys a change touches.

Level-triggered: a change says *which* LeaderWorkerSet to look at again, never what to do about it.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from lws_volcano.api import names
from lws_volcano.api.meta import Object
from lws_volcano.mapping.snapshot import Capabilities
from lws_volcano.state.catalog import Resolution
from lws_volcano.state.kinds import BY_LWS, Kind, Kinds
from lws_volcano.state.store import Difference
from lws_volcano.topology.model import Topology

__all__ = ["HYPER_NODES", "Area", "Cluster", "Key"]


class Area(StrEnum):
    """What a key is about."""

    LWS = "lws"
    TOPOLOGY = "topology"


class Key(NamedTuple):
    """One unit of work: a LeaderWorkerSet (`namespace/name`), a ClusterTopology (its name), or all HyperNodes."""

    area: Area
    name: str


HYPER_NODES: Final = "*"
"""Name, in the area of topologies, of the one key for all HyperNodes: no object can be called so."""

LostPlaces = Callable[[str, datetime], Mapping[str, datetime | None]]

Listener = Callable[[Kind[Any], Difference[Any]], None]
"""Told of every change of a store, at once; must be quick and must not raise."""


class Cluster:
    """What this replica knows.

    Attributes
    ----------
    kinds
        The kinds, each with its store: `cluster.kinds.pods.store.by(BY_LWS, "ns/name")`.
    places
        Of one LeaderWorkerSet: since when groups that are held to a place have lost it (`Snapshot.places`).
    resolution
        What came of the configured topologies, and of each.
    topology_pending
        A topology is given, and what comes of it is not in `resolution` yet, but soon will be.
    capabilities
        What the installed Volcano can do.
    """

    def __init__(self) -> None:
        self.kinds = Kinds()
        self.resolution = Resolution()
        self.places: LostPlaces = lambda _lws, _now: {}
        self.topology_pending: Callable[[], bool] = lambda: False
        self.capabilities = Capabilities()
        self._listeners: list[Listener] = []
        self._readiness: list[Callable[[], None]] = []

    @property
    def topology(self) -> Topology | None:
        """The configured topology resolved against the nodes; None where none is configured."""
        return self.resolution.topology

    @topology.setter
    def topology(self, topology: Topology | None) -> None:
        self.resolution = Resolution(topology)

    @property
    def ready(self) -> bool:
        """Everything that a pass needs is there, or known to be absent where it is optional."""
        return not self.waiting_for()

    def waiting_for(self) -> list[str]:
        """Names of the kinds without which no pass can be made yet, with the reason where it is known."""
        return [
            f"{kind.resource.rbac_name}: {kind.store.missing}" if kind.store.missing else kind.resource.rbac_name
            for kind in self.kinds.of_pass()
            if not kind.store.synced and not (kind.optional and kind.store.missing)
        ]

    def listen(self, listener: Listener) -> None:
        """Be told of every change from now on."""
        self._listeners.append(listener)

    def on_readiness(self, told: Callable[[], None]) -> None:
        """Be told whenever `ready` may have changed."""
        self._readiness.append(told)

    def readiness_changed(self) -> None:
        """A kind was listed, or cannot be read any more."""
        for told in self._readiness:
            told()

    def changed(self, kind: Kind[Any], differences: Iterable[Difference[Any] | None]) -> None:
        """Tell the listeners; None (no news) is passed over."""
        for difference in differences:
            if difference is not None:
                for listener in self._listeners:
                    listener(kind, difference)

    def lws_keys(self) -> list[Key]:
        """Every LeaderWorkerSet, and those that are gone but have left PodGroups of ours behind."""
        left = self.kinds.pod_groups.store.values_of(BY_LWS)
        return [Key(Area.LWS, key) for key in {**dict.fromkeys(self.kinds.lws.store.names()), **dict.fromkeys(left)}]

    def topology_keys(self) -> list[Key]:
        """The HyperNodes, and every ClusterTopology."""
        return [Key(Area.TOPOLOGY, key) for key in (HYPER_NODES, *self.kinds.topologies.store.names())]

    def touched(self, kind: Kind[Any], difference: Difference[Any]) -> list[Key]:
        """The LeaderWorkerSets and topologies whose outcome may change by this."""
        if difference.old is not None and difference.new is not None and _same(difference.old, difference.new):
            return []
        kinds = self.kinds
        if kind is kinds.lws:
            return [Key(Area.LWS, difference.either.key)]
        if kind is kinds.pods or kind is kinds.revisions:
            return _labelled(difference)
        if kind is kinds.pod_groups:
            return [*_labelled(difference), *self._namesakes(difference.either)]
        if kind is kinds.namespaces:
            found = kinds.lws.store.by("namespace", difference.either.name)
            return [Key(Area.LWS, lws.key) for lws in found]
        if kind in (kinds.queues, kinds.priority_classes, kinds.runtime_classes):
            return self.lws_keys()
        if kind is kinds.topologies:
            return [Key(Area.TOPOLOGY, difference.either.key)]
        if kind is kinds.hyper_nodes:
            # The first has come, or the last has gone: without any, network topology is ignored for every set.
            first_or_last = len(kind.store) == (1 if difference.old is None else 0)
            return [Key(Area.TOPOLOGY, HYPER_NODES), *(self.lws_keys() if first_or_last else ())]
        # Nodes change what topologies resolve to; their keys come once that is done.
        return []

    def _namesakes(self, pod_group: Object) -> list[Key]:
        """LeaderWorkerSets that own the PodGroup, or one of whose groups would take its name."""
        parts = pod_group.name.split("-")
        candidates = {"-".join(parts[:end]) for end in range(1, len(parts))}
        candidates |= {owner.name for owner in pod_group.metadata.owner_references if owner.kind == "LeaderWorkerSet"}
        keys = (f"{pod_group.namespace}/{name}" for name in sorted(candidates))
        return [Key(Area.LWS, key) for key in keys if key in self.kinds.lws.store]


def _labelled(difference: Difference[Any]) -> list[Key]:
    found: dict[Key, None] = {}
    for item in (difference.old, difference.new):
        name = item.metadata.labels.get(names.LWS_NAME) if item is not None else None
        if item is not None and name:
            found[Key(Area.LWS, f"{item.namespace}/{name}")] = None
    return list(found)


def _same(old: Any, new: Any) -> bool:
    """Equal but for the resource version and the generation, which count writes and not changes."""
    if not isinstance(old, Object):
        return bool(old == new)
    before, after = old.metadata, new.metadata
    return (
        before.uid == after.uid
        and before.deletion_timestamp == after.deletion_timestamp
        and before.labels == after.labels
        and before.annotations == after.annotations
        and before.owner_references == after.owner_references
        and all(getattr(old, name) == getattr(new, name) for name in type(old).model_fields if name != "metadata")
    )
