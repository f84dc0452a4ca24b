"""Keeps the HyperNodes in step with the topology in use: one write after another, a strict tree after each.

Only what carries our source label is touched. HyperNodes of a ClusterTopology that is refused or empty, and of which
nothing good is known, stay as they are; where ClusterTopologies may not be read, all do that no file accounts for.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from lws_volcano.api.names import TOPOLOGY
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import HyperNode
from lws_volcano.controller.executor import Executor, ObserveAgainError
from lws_volcano.kube import apply
from lws_volcano.kube.errors import Conflict, NotFound
from lws_volcano.kube.resources import HYPER_NODES
from lws_volcano.observe import metrics
from lws_volcano.state.catalog import Resolution
from lws_volcano.state.cluster import Cluster
from lws_volcano.topology.findings import Finding
from lws_volcano.topology.hypernode_names import label_value
from lws_volcano.topology.hypernodes import desired_hypernodes
from lws_volcano.topology.membership import is_ours
from lws_volcano.topology.selectors import LabelIndex
from lws_volcano.topology.strangers import concerns
from lws_volcano.topology.writes import Action, Write, order_writes

__all__ = ["HyperNodeKeeper"]

_log = structlog.get_logger(__name__)

_NONE: Final = "1"
"""etcd gives no object this version: a stranger's object of the name is not touched."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """What one pass is made from."""

    resolution: Resolution
    ours: tuple[HyperNode, ...]
    foreign: tuple[HyperNode, ...]
    taken: frozenset[str]
    settings: Settings


@dataclass
class HyperNodeKeeper:
    """One pass at a time over all HyperNodes."""

    cluster: Cluster
    settings: Settings
    executor: Executor
    concerns: tuple[Finding, ...] = ()
    """What is to be said of HyperNodes of others, as of the last pass."""
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def keep(self) -> int:
        """Make the writes that are needed; gives their number.

        Raises
        ------
        ObserveAgainError
            The HyperNodes are not as we saw them.
        NotLeadingError, ApiError, Unavailable
            As `Executor.make`.
        """
        async with self._one_at_a_time:
            store = self.cluster.kinds.hyper_nodes.store
            if not (self.cluster.resolution.settled and store.synced):
                return 0
            made = self._gather()
            if any(one.metadata.terminating for one in made.ours):
                raise ObserveAgainError("a HyperNode of ours is on its way out")
            # Beside the event loop: thousands of nodes take a tenth of a second.
            writes, self.concerns = await asyncio.to_thread(_plan, made)
            found = {one.name: one for one in made.ours}
            for write in writes:
                await self._make(write, found.get(write.name))
            return len(writes)

    def _gather(self) -> _Pass:
        resolution = self.cluster.resolution
        known = {label_value(name): entry for name, entry in resolution.entries.items()}
        complete = self.cluster.kinds.topologies.store.synced
        ours: list[HyperNode] = []
        foreign: list[HyperNode] = []
        kept: list[HyperNode] = []
        for one in self.cluster.kinds.hyper_nodes.store:
            if not is_ours(one):
                foreign.append(one)
                continue
            entry = known.get(one.metadata.labels.get(TOPOLOGY, ""))
            left_alone = not complete if entry is None else not (entry.topology and entry.topology.nodes)
            (kept if left_alone else ours).append(one)
        taken = frozenset(one.name for one in (*foreign, *kept))
        return _Pass(resolution, tuple(ours), tuple(foreign), taken, self.settings)

    async def _make(self, write: Write, found: HyperNode | None) -> None:
        name = f"HyperNode{write.action.value.capitalize()}"
        try:
            await self._send(write, found)
        except (NotFound, Conflict) as error:
            metrics.CHANGES.labels(name, "observe").inc()
            raise ObserveAgainError(str(error)) from error
        except Exception:
            metrics.CHANGES.labels(name, "failed").inc()
            raise
        metrics.CHANGES.labels(name, "made").inc()
        _log.info("change made", change=name, name=write.name, why=write.reason or "the topology asks for it")

    async def _send(self, write: Write, found: HyperNode | None) -> None:
        kind, client = self.cluster.kinds.hyper_nodes, self.executor.client
        if write.action is Action.DELETE or write.manifest is None:
            if found is not None:
                await apply.delete(client, HYPER_NODES, "", write.name, uid=found.uid, within=self.executor.within())
                kind.store.deleted(write.name, found.uid)
            return
        precondition = {"uid": found.uid} if found is not None else {"resourceVersion": _NONE}
        manifest = {**write.manifest, "metadata": {**write.manifest["metadata"], **precondition}}
        answer = await apply.apply(client, HYPER_NODES, manifest, within=self.executor.within())
        self.executor.written(kind, answer)


def _plan(made: _Pass) -> tuple[Sequence[Write], tuple[Finding, ...]]:
    topology, settings = made.resolution.topology, made.settings
    index = LabelIndex(made.resolution.labels)
    wanted = topology is not None and settings.hyper_nodes == "write"
    desired = desired_hypernodes(topology, made.taken, settings.exact_members) if topology and wanted else ()
    return order_writes(made.ours, desired, index), tuple(concerns(made.foreign, desired, index))
