"""Recorded watch events of the real LeaderWorkerSet controller, fed into a `World` one by one.

Pods are let in as the webhook would let them in (`binding.bind`), at the moment of their first event. PodGroups of the
recording are left out, because they were made by another controller; the world makes its own.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from lws_volcano.api import names
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet
from lws_volcano.mapping.binding import bind, pod_group_of
from tests.unit.mapping.world import World

Raw = dict[str, Any]
Key = tuple[str, str]


def read(path: Path) -> list[Raw]:
    """Events in the order in which etcd had them; the notes of the operator go by time and are left out."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    events = [json.loads(line) for line in text.splitlines()]
    watched = [one for one in events if one["resource"] != "action"]
    return sorted(watched, key=lambda one: int(one["object"]["metadata"]["resourceVersion"]))


@dataclass
class Replay:
    """A recording under way."""

    world: World | None = None
    raw: dict[str, Raw] = field(default_factory=dict)
    """Pods as the recording shows them, for checks that do not go through our own views."""
    sizes: dict[str, int] = field(default_factory=dict)
    expected: set[Key] = field(default_factory=set)
    """(group, revision) that must have a PodGroup: it has a living pod; or had one, and still has any or comes back."""
    newest: tuple[int, str] = (0, "")
    _given: dict[str, Raw] = field(default_factory=dict)

    def run(self, events: list[Raw]) -> Iterator["Replay"]:
        """Stand after every event that changes something for us, settled, until the LWS is deleted."""
        for event in events:
            if event["resource"] == "leaderworkersets" and event["type"] == "DELETED":
                return
            if self._take(event) and self.world is not None:
                self._expect()
                self.world.settle()
                yield self

    def _take(self, event: Raw) -> bool:
        raw, gone = event["object"], event["type"] == "DELETED"
        match event["resource"]:
            case "leaderworkersets":
                self._lws(raw)
            case "controllerrevisions":
                return self._revision(raw, gone=gone)
            case "pods":
                self._pod(raw, gone=gone)
            case _:
                return False
        return True

    def _lws(self, raw: Raw) -> None:
        metadata = {**raw["metadata"]}
        metadata["annotations"] = {**metadata.get("annotations", {}), names.GANG: "true"}
        view = LeaderWorkerSet.parse({**raw, "metadata": metadata})
        if self.world is None:
            now = datetime.fromisoformat(raw["metadata"]["creationTimestamp"])
            self.world = World(view, settings=Settings(stranded_after=1e6), now=now)
        self.world.lws = view

    def _revision(self, raw: Raw, *, gone: bool) -> bool:
        owners = raw["metadata"].get("ownerReferences", [])
        if self.world is None or not any(owner["kind"] == "LeaderWorkerSet" for owner in owners):
            return False
        view = ControllerRevision.parse(raw)
        if gone:
            self.world.revisions.pop(view.name, None)
        else:
            self.world.put(view)
            self.sizes[view.hash] = raw["data"]["spec"]["leaderWorkerTemplate"]["size"]
            self.newest = max(self.newest, (raw["revision"], view.hash))
        return True

    def _pod(self, raw: Raw, *, gone: bool) -> None:
        assert self.world is not None
        name = raw["metadata"]["name"]
        if gone:
            self.raw.pop(name, None)
            self.world.pods.pop(name, None)
            return
        self.raw[name] = raw
        uid = raw["metadata"]["uid"]
        if uid not in self._given:
            self._given[uid] = self._admit(raw)
        given = self._given[uid]
        annotations = {**raw["metadata"].get("annotations", {}), **given["annotations"]}
        self.world.put(Pod.parse({**raw, "metadata": {**raw["metadata"], "annotations": annotations}}))

    def _admit(self, raw: Raw) -> Raw:
        assert self.world is not None
        bare = {key: value for key, value in raw["metadata"].get("annotations", {}).items() if "volcano" not in key}
        bare.pop(names.GROUP_NAME, None)
        pod = Pod.parse(
            {**raw, "metadata": {**raw["metadata"], "annotations": bare}, "spec": {**raw["spec"], "nodeName": ""}}
        )
        there = self.world.pod_groups.get(pod_group_of(pod.metadata))
        binding = bind(
            pod, self.world.lws, None, self.world.settings, pod_group=PodGroup.parse(there) if there else None
        )
        assert binding.bound, binding.why
        return {"annotations": dict(binding.annotations), "gate": binding.gate}

    def _expect(self) -> None:
        living, there = set(), set()
        for raw in self.raw.values():
            labels = raw["metadata"]["labels"]
            key = labels[names.GROUP_INDEX], labels[names.REVISION_HASH]
            there.add(key)
            if "deletionTimestamp" not in raw["metadata"]:
                living.add(key)
        assert self.world is not None
        begun = {index for index, _ in there}
        awaited = {str(i) for i in range(self.world.lws.spec.replicas)} - begun
        back = {(index, self.newest[1]) for index in awaited}
        self.expected = living | (self.expected & (there | back))

    def gates(self) -> dict[str, bool]:
        """Pod UID -> it was gated at its admission."""
        return {uid: given["gate"] for uid, given in self._given.items()}
