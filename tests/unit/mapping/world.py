"""An in-memory API server, as far as mapping goes: it holds objects, makes the changes of a plan, and is watchful.

Server-side apply is modelled with one manager: leaves that we applied before and left out now go, foreign ones stay.
While it makes changes it checks what must hold at every moment: nothing of somebody else's is touched, no PodGroup is
deleted under a pod that names it, none is made without a living pod. Not modelled: conflicts, admission, the scheduler.
"""

import copy
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lws_volcano.api import names
from lws_volcano.api.meta import Object
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet
from lws_volcano.mapping.changes import (
    AnnotatePod,
    ApplyPodGroup,
    Change,
    DeletePod,
    DeletePodGroup,
    LwsPlan,
    RemoveGate,
)
from lws_volcano.mapping.diff import remaining
from lws_volcano.mapping.plan import plan_lws
from lws_volcano.mapping.snapshot import Snapshot
from tests.unit.mapping.builders import NOW

ROUNDS = 4


@dataclass
class World:
    """One LWS, its surroundings, and what has been written."""

    lws: LeaderWorkerSet
    pods: dict[str, Pod] = field(default_factory=dict)
    revisions: dict[str, ControllerRevision] = field(default_factory=dict)
    pod_groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    surroundings: dict[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    now: datetime = NOW
    writes: list[Change] = field(default_factory=list)
    applied: dict[str, dict[str, Any]] = field(default_factory=dict)
    _uids: Iterable[int] = field(default_factory=itertools.count)

    def put(self, *objects: Object) -> None:
        """Add or replace pods, revisions and PodGroups."""
        for one in objects:
            if isinstance(one, Pod):
                self.pods[one.name] = one
            elif isinstance(one, ControllerRevision):
                self.revisions[one.name] = one
            elif isinstance(one, PodGroup):
                self.pod_groups[one.name] = one.manifest()

    def drop(self, *pods: str) -> None:
        """Pods are gone."""
        for name in pods:
            del self.pods[name]

    def edit_pod(self, name: str, *, metadata: Mapping[str, Any] | None = None, **parts: Any) -> None:
        """Change a pod: parts of its metadata, or whole `spec` and `status`."""
        raw = self.pods[name].manifest()
        raw["metadata"] |= metadata or {}
        for part, value in parts.items():
            raw[part] = {**raw.get(part, {}), **value}
        self.pods[name] = Pod.parse(raw)

    def bind(self, *pods: str, node: str = "n1") -> None:
        """Pods get a node and run."""
        for name in pods:
            self.edit_pod(name, spec={"nodeName": node}, status={"phase": "Running"})

    def snapshot(self) -> Snapshot:
        """As it stands."""
        return Snapshot(
            lws=self.lws,
            now=self.now,
            settings=self.settings,
            pods=tuple(self.pods.values()),
            revisions=tuple(self.revisions.values()),
            pod_groups=tuple(PodGroup.parse(raw) for raw in self.pod_groups.values()),
            **self.surroundings,
        )

    def plan(self) -> LwsPlan:
        """What would be done now."""
        return plan_lws(self.snapshot())

    def once(self) -> LwsPlan:
        """One pass."""
        found = self.plan()
        for change in found.changes:
            self._make(change)
        return found

    def settle(self) -> LwsPlan:
        """Pass after pass until one changes nothing; that must come soon."""
        for _ in range(ROUNDS):
            found = self.once()
            if not found.changes:
                return found
        raise AssertionError(f"does not settle: {found.changes}")

    def numbers(self) -> dict[str, tuple[int, dict[str, int]]]:
        """Name -> minMember and minTaskMember of the PodGroups of this LWS, terminating ones left out."""
        return {
            name: (raw["spec"]["minMember"], raw["spec"]["minTaskMember"])
            for name, raw in sorted(self.pod_groups.items())
            if "deletionTimestamp" not in raw["metadata"]
            and [owner["uid"] for owner in raw["metadata"].get("ownerReferences", [])] == [self.lws.uid]
        }

    def spec(self, name: str) -> dict[str, Any]:
        """Spec of a PodGroup."""
        return self.pod_groups[name]["spec"]

    def _make(self, change: Change) -> None:
        self.writes.append(change)
        match change:
            case ApplyPodGroup():
                self._apply(change)
            case DeletePodGroup():
                self._delete(change)
            case AnnotatePod():
                pod = self._pod(change)
                self.edit_pod(change.name, metadata={"annotations": {**pod.metadata.annotations, **change.annotations}})
            case RemoveGate():
                gates = [gate.name for gate in self._pod(change).spec.scheduling_gates if gate.name != change.gate]
                self.edit_pod(change.name, spec={"schedulingGates": [{"name": gate} for gate in gates]})
            case DeletePod():
                self.edit_pod(self._pod(change).name, metadata={"deletionTimestamp": "2026-11-30T12:00:00Z"})

    def _pod(self, change: AnnotatePod | RemoveGate | DeletePod) -> Pod:
        pod = self.pods[change.name]
        assert pod.uid == change.uid
        return pod

    def _apply(self, change: ApplyPodGroup) -> None:
        there = self.pod_groups.get(change.name)
        if there is None:
            assert not change.uid, "applied to an object that is gone"
            joined = [pod for pod in self.pods.values() if not pod.terminating]
            assert joined, "a PodGroup without a living pod"
            there = {"metadata": {"uid": f"pg-{next(iter(self._uids))}"}}
        else:
            assert change.uid == there["metadata"]["uid"], "applied to an object that was not seen"
            assert "deletionTimestamp" not in there["metadata"], "applied to an object on its way out"
            owners = there["metadata"].get("ownerReferences", [])
            assert [owner["uid"] for owner in owners] == [self.lws.uid], "a stranger was adopted"
        body = copy.deepcopy(there)
        _forget(body, self.applied.get(change.name, {}), change.manifest)
        _merge(body, change.manifest)
        _merge_patch(body, remaining(change.prune or {}, body))
        if change.stands:
            pruned = copy.deepcopy(there)
            _merge_patch(pruned, change.prune or {})
            assert _full(pruned) == _full(body), "the patch alone was not enough"
        self.pod_groups[change.name] = body
        self.applied[change.name] = copy.deepcopy(dict(change.manifest))

    def _delete(self, change: DeletePodGroup) -> None:
        there = self.pod_groups[change.name]["metadata"]
        assert there["uid"] == change.uid
        assert [owner["uid"] for owner in there.get("ownerReferences", [])] == [self.lws.uid], "not ours"
        named = {pod.metadata.annotations.get(names.GROUP_NAME) for pod in self.pods.values()}
        assert change.name not in named, "deleted under a pod that names it"
        if there.get("finalizers"):
            there["deletionTimestamp"] = "2026-11-30T12:00:00Z"
        else:
            del self.pod_groups[change.name]
            self.applied.pop(change.name, None)


def _merge_patch(body: dict[str, Any], patch: Mapping[str, Any]) -> None:
    for key, value in patch.items():
        if value is None:
            body.pop(key, None)
        elif isinstance(value, Mapping):
            _merge_patch(body.setdefault(key, {}), value)
        else:
            body[key] = value


def _full(body: object) -> object:
    """Without empty maps, which the API server does not keep in metadata."""
    return {key: _full(one) for key, one in body.items() if one != {}} if isinstance(body, dict) else body


def _forget(body: dict[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Leaves that were applied before and are not applied any more."""
    for key, value in before.items():
        if isinstance(value, Mapping) and isinstance(body.get(key), dict):
            _forget(body[key], value, after.get(key) or {})
            if not body[key] and key not in after:
                del body[key]
        elif key not in after:
            body.pop(key, None)


def _merge(body: dict[str, Any], manifest: Mapping[str, Any]) -> None:
    for key, value in manifest.items():
        if isinstance(value, Mapping):
            _merge(body.setdefault(key, {}), value)
        else:
            body[key] = copy.deepcopy(value)
