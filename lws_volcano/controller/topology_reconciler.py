"""Passes over topologies: the HyperNodes of all of them, and the status of each ClusterTopology."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

import structlog

from lws_volcano.api.errors import ClusterError
from lws_volcano.api.names import OUR_API
from lws_volcano.controller.correlator import Remark
from lws_volcano.controller.executor import NotLeadingError, ObserveAgainError
from lws_volcano.controller.hyper_nodes import HyperNodeKeeper
from lws_volcano.controller.outcome import Failed, Ok, Outcome, RequeueAfter
from lws_volcano.kube import apply
from lws_volcano.kube.clock import Clock
from lws_volcano.kube.errors import ApiError, Conflict, NotFound
from lws_volcano.kube.resources import CLUSTER_TOPOLOGIES
from lws_volcano.state.catalog import Entry
from lws_volcano.state.cluster import HYPER_NODES, Area, Key
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.topology.findings import Finding, Severity
from lws_volcano.topology.status import topology_status

__all__ = ["TopologyReconciler"]

_log = structlog.get_logger(__name__)

OBSERVE_AGAIN: Final = 1.0
"""Seconds until a pass that met a change it had not seen looks again."""
_KIND: Final = "ClusterTopology"


@dataclass
class TopologyReconciler:
    """`look_at` takes keys that are to be looked at again."""

    keeper: HyperNodeKeeper
    clock: Clock
    say: Callable[[Remark], None]
    look_at: Callable[[list[Key]], None]
    trouble: str = ""
    """Why the HyperNodes could not be written in the last pass."""

    async def reconcile(self, name: str) -> Outcome:
        """One pass over one ClusterTopology, or over the HyperNodes of all (`HYPER_NODES`)."""
        try:
            if name == HYPER_NODES:
                await self._hyper_nodes()
            else:
                await self._status(name)
        except ObserveAgainError:
            return RequeueAfter(OBSERVE_AGAIN)
        except NotLeadingError:
            # Whoever leads next looks at every key.
            return Ok()
        except ClusterError as error:
            return Failed(error, (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0)
        return Ok()

    async def _hyper_nodes(self) -> None:
        before = (self.keeper.concerns, self.trouble)
        try:
            made = await self.keeper.keep()
            self.trouble = ""
        except ClusterError as error:
            self.trouble = str(error)
            raise
        finally:
            if (self.keeper.concerns, self.trouble) != before:
                names = self.keeper.cluster.kinds.topologies.store.names()
                self.look_at([Key(Area.TOPOLOGY, name) for name in names])
        if made:
            _log.info("HyperNodes are in step", writes=made)

    async def _status(self, name: str) -> None:
        kind = self.keeper.cluster.kinds.topologies
        record, entry = kind.store.get(name), self.keeper.cluster.resolution.entries.get(name)
        if record is None or entry is None or entry.given.generation != record.generation:
            # Gone, or newer than what was resolved: its key comes again with the next resolution.
            return
        before = record.raw.get("status") or {}
        status = self._wanted(entry, record, before)
        if status == before:
            return
        manifest = {"apiVersion": OUR_API, "kind": _KIND, "metadata": {"name": name}, "status": status}
        executor = self.keeper.executor
        try:
            answer = await apply.apply_status(executor.client, CLUSTER_TOPOLOGIES, manifest, within=executor.within())
        except (NotFound, Conflict) as error:
            raise ObserveAgainError(str(error)) from error
        executor.written(kind, answer)
        self._say(record, before, status)

    def _wanted(self, entry: Entry, record: TopologyRecord, before: Mapping[str, Any]) -> dict[str, Any]:
        findings = (*entry.findings, *self.keeper.concerns, *self._trouble())
        now = self.clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return topology_status(
            entry.topology,
            findings,
            generation=record.generation,
            now=now,
            before=before,
            refused=entry.refused,
        )

    def _trouble(self) -> tuple[Finding, ...]:
        if not self.trouble:
            return ()
        what = f"HyperNodes are not in step: {self.trouble}"
        return (Finding(severity=Severity.WARNING, what=what, mend="it is tried again"),)

    def _say(self, record: TopologyRecord, before: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        """An Event when the reason is another one than before."""
        (condition,) = status["conditions"]
        if any(one.get("reason") == condition["reason"] for one in before.get("conditions") or ()):
            return
        self.say(
            Remark(
                api_version=OUR_API,
                kind=_KIND,
                namespace="",
                name=record.key,
                uid=record.uid,
                reason=condition["reason"],
                message=condition["message"],
                warning=condition["status"] != "True",
            )
        )
