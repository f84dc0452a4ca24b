"""Makes the changes of a plan, in order, and brings what the API server answered back into the stores.

The stores know of a write before the watch tells of it, so the next pass does not make it again. Neighbours of one sort
(the PodGroups of many groups) are made side by side; a failure ends the pass with its wave, the rest is planned anew.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import structlog

from lws_volcano.api.names import GROUP_INDEX, LWS_NAME, REVISION_HASH
from lws_volcano.controller.leader_election import Leadership
from lws_volcano.kube import apply
from lws_volcano.kube.client import TIMEOUT, Client, Json
from lws_volcano.kube.errors import Conflict, Invalid, NotFound
from lws_volcano.kube.resources import LEADER_WORKER_SETS, POD_GROUPS, PODS
from lws_volcano.mapping.changes import AnnotatePod, ApplyPodGroup, Change, DeletePod, DeletePodGroup, RemoveGate
from lws_volcano.mapping.diff import remaining
from lws_volcano.observe import metrics
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind
from lws_volcano.state.reflector import version_number

__all__ = ["Executor", "NotLeadingError", "ObserveAgainError", "waves"]

_log = structlog.get_logger(__name__)


ABREAST: Final = 8
"""Writes of one set that are under way at a time."""


class ObserveAgainError(Exception):
    """The cluster is not as we saw it; the watch will tell, and the change is planned anew."""


class NotLeadingError(Exception):
    """The lease is lost: nothing may be written."""


@dataclass
class Executor:
    """All writes of the reconcilers go through here."""

    client: Client
    cluster: Cluster
    leadership: Leadership

    async def make_all(self, wave: Sequence[Change], made: list[Change]) -> None:
        """Make changes of one sort side by side, and note those that succeeded.

        Raises
        ------
        As `make`, the first failure; nothing more is begun after it.
        """
        left = list(reversed(wave))
        failures: list[Exception] = []

        async def work() -> None:
            while left and not failures:
                change = left.pop()
                try:
                    await self.make(change)
                except Exception as error:  # noqa: BLE001 - raised below, when the others have ended
                    failures.append(error)
                else:
                    made.append(change)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(ABREAST, len(wave))):
                tasks.create_task(work())
        if failures:
            raise failures[0]

    async def make(self, change: Change) -> None:
        """Make one change.

        Raises
        ------
        ObserveAgainError
            What it is about is gone, or is another object by now.
        NotLeadingError
            This replica must not write any more.
        ApiError, Unavailable
            Refused, or not answered.
        """
        name = type(change).__name__
        try:
            await self._make(change)
        except (NotFound, Conflict) as error:
            metrics.CHANGES.labels(name, "observe").inc()
            _log.info("change overtaken", change=name, name=change.name, error=str(error))
            raise ObserveAgainError(str(error)) from error
        except Exception:
            metrics.CHANGES.labels(name, "failed").inc()
            raise
        metrics.CHANGES.labels(name, "made").inc()
        _log.info("change made", change=name, name=change.name, why=change.why)

    async def write_status(self, manifest: Json) -> None:
        """Apply our condition to a LeaderWorkerSet."""
        answer = await apply.apply_status(self.client, LEADER_WORKER_SETS, manifest, within=self.within())
        metrics.STATUS_WRITES.inc()
        self.written(self.cluster.kinds.lws, answer)

    def within(self) -> float:
        """Time limit of a write, in seconds: it must not outlast the lease.

        Raises
        ------
        NotLeadingError
            This replica must not write any more.
        """
        seconds = min(TIMEOUT, self.leadership.remaining())
        if seconds <= 0 or not self.leadership.may_write():
            raise NotLeadingError
        return seconds

    async def _make(self, change: Change) -> None:
        match change:
            case ApplyPodGroup():
                await self._apply(change)
            case DeletePodGroup():
                await self._look_for_unseen_pods(change)
                await self._delete(self.cluster.kinds.pod_groups, change)
            case DeletePod():
                await self._delete(self.cluster.kinds.pods, change)
            case AnnotatePod():
                await self._annotate(change)
            case RemoveGate():
                answer = await apply.remove_gate(
                    self.client, change.namespace, change.name, change.gate, uid=change.uid, within=self.within()
                )
                self.written(self.cluster.kinds.pods, answer)

    async def _apply(self, change: ApplyPodGroup) -> None:
        """One write, unless somebody else put fields of his own where they change the meaning of ours."""
        if change.prune is None:
            await self._apply_ours(change)
        elif change.stands:
            await self._prune(change, change.prune)
        else:
            try:
                left = remaining(change.prune, await self._apply_ours(change))
            except Invalid:
                # The schema refuses some of ours beside some of theirs: a tier's number and its name.
                await self._prune(change, change.prune)
                await self._apply_ours(change)
            else:
                if left:
                    await self._prune(change, left)

    async def _apply_ours(self, change: ApplyPodGroup) -> Json:
        """One apply; where the object is there, its UID makes sure that it is still the one that was seen."""
        manifest = dict(change.manifest)
        # A version that no object has makes the API server refuse to touch one that exists (a stranger's), and is
        # not looked at for one that does not.
        precondition = {"uid": change.uid} if change.uid else {"resourceVersion": _NONE}
        manifest["metadata"] = {**manifest["metadata"], **precondition}
        answer = await apply.apply(self.client, POD_GROUPS, manifest, within=self.within())
        self.written(self.cluster.kinds.pod_groups, answer)
        return answer

    async def _prune(self, change: ApplyPodGroup, prune: Mapping[str, Any]) -> None:
        patch = {**prune, "metadata": {**prune.get("metadata", {}), "uid": change.uid}}
        answer = await apply.merge(self.client, POD_GROUPS, change.namespace, change.name, patch, within=self.within())
        self.written(self.cluster.kinds.pod_groups, answer)

    async def _annotate(self, change: AnnotatePod) -> None:
        patch = {"metadata": {"uid": change.uid, "annotations": dict(change.annotations)}}
        answer = await apply.merge(self.client, PODS, change.namespace, change.name, patch, within=self.within())
        self.written(self.cluster.kinds.pods, answer)

    async def _look_for_unseen_pods(self, change: DeletePodGroup) -> None:
        """Ask for the pods of the group: while a watch is broken, the cache may not have those of its next life yet."""
        kinds = self.cluster.kinds
        pod_group = kinds.pod_groups.store.get(f"{change.namespace}/{change.name}")
        labels = pod_group.metadata.labels if pod_group is not None else {}
        if not all(labels.get(name) for name in _MEMBERSHIP):
            return
        query = {"labelSelector": ",".join(f"{name}={labels[name]}" for name in _MEMBERSHIP)}
        found = await self.client.request("GET", PODS.path(change.namespace), query=query, within=self.within())
        for metadata in (pod["metadata"] for pod in found.get("items") or ()):
            seen = kinds.pods.store.get(f"{change.namespace}/{metadata['name']}")
            if seen is None or seen.uid != metadata["uid"]:
                raise ObserveAgainError(f"pod {metadata['name']} has come and was not seen yet")

    async def _delete(self, kind: Kind[Any], change: DeletePodGroup | DeletePod) -> None:
        key = f"{change.namespace}/{change.name}"
        try:
            answer = await apply.delete(
                self.client, kind.resource, change.namespace, change.name, uid=change.uid, within=self.within()
            )
        except NotFound:
            answer = {}
        if answer.get("kind") == kind.resource.kind:
            self.written(kind, answer)
        if not (answer.get("metadata") or {}).get("deletionTimestamp"):
            kind.store.deleted(key, change.uid)

    def written(self, kind: Kind[Any], answer: Json) -> None:
        """Bring the answer to a write into the store."""
        view = kind.parse(answer)
        if view is not None:
            kind.store.wrote(view, version_number(str(answer["metadata"].get("resourceVersion") or "")))


def waves(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes in their order, neighbours of one sort together."""
    return [list(wave) for _, wave in groupby(changes, key=type)]


_MEMBERSHIP: Final = (LWS_NAME, GROUP_INDEX, REVISION_HASH)
"""Labels that the pods of a group and its PodGroup share."""
_NONE: Final = "1"
"""etcd gives no object this version."""
