"""Each sort of change as a request, and what becomes of the answer.

Covers: preconditions, answers brought into the stores, gone and conflicting objects, waves, the lease. Leaves out:
when a change is wanted (tests/unit/mapping).
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from lws_volcano.api import names
from lws_volcano.controller.executor import Executor, NotLeadingError, ObserveAgainError, waves
from lws_volcano.kube.client import Client
from lws_volcano.kube.errors import Forbidden, Invalid
from lws_volcano.kube.resources import POD_GROUPS, PODS
from lws_volcano.mapping.changes import (
    AnnotatePod,
    ApplyPodGroup,
    Change,
    DeletePod,
    DeletePodGroup,
    RemoveGate,
)
from lws_volcano.state.cluster import Cluster
from tests.contract import manifests
from tests.contract.api_server import ApiServer, Json, refused


@dataclass
class Lease:
    """Leadership for so many more seconds."""

    seconds: float = 100.0

    def may_write(self) -> bool:
        """As long as there are some."""
        return self.seconds > 0

    def remaining(self) -> float:
        """So many."""
        return self.seconds


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """An empty API server."""
    async with ApiServer() as running:
        yield running


@pytest.fixture
async def executor(server: ApiServer) -> AsyncIterator[Executor]:
    """An executor on it, whose stores are empty."""
    async with Client.at(server.url) as client:
        yield Executor(client, Cluster(), Lease())


STRAY = {"spec": {"minTaskMember": {"stray": None}}}


def manifest(name: str = "pg", **spec: object) -> Json:
    """A PodGroup as the mapping gives it."""
    return {
        "apiVersion": names.PODGROUP_API,
        "kind": "PodGroup",
        "metadata": {"namespace": "default", "name": name},
        "spec": {"minMember": 2, **spec},
    }


def applied(name: str = "pg", uid: str = "", **spec: object) -> ApplyPodGroup:
    """An apply of it."""
    return ApplyPodGroup(namespace="default", name=name, manifest=manifest(name, **spec), why="test", uid=uid)


async def test_a_new_pod_group_is_one_request_and_known_at_once(server: ApiServer, executor: Executor) -> None:
    """Server-side apply under our field manager; the store has it before the watch tells."""
    await executor.make(applied())
    (asked,) = server.asked
    assert (asked.method, asked.query["fieldManager"]) == ("PATCH", "lws-volcano")
    known = executor.cluster.kinds.pod_groups.store.get("default/pg")
    assert known is not None
    assert known.spec.min_member == 2


async def test_an_update_is_of_the_object_that_was_seen(server: ApiServer, executor: Executor) -> None:
    """Another object under the same name, or none: observe again, and touch nothing."""
    with pytest.raises(ObserveAgainError):
        await executor.make(applied(uid="gone"))
    found = server.put(POD_GROUPS, manifest())
    with pytest.raises(ObserveAgainError):
        await executor.make(applied(uid="another"))
    await executor.make(applied(uid=found["metadata"]["uid"], minMember=3))
    changed = server.get(POD_GROUPS, "default", "pg")
    assert changed is not None
    assert changed["spec"]["minMember"] == 3


async def test_a_delete_is_of_the_object_that_was_seen(server: ApiServer, executor: Executor) -> None:
    """By UID; one that is gone already is as good."""
    await executor.make(applied())
    known = executor.cluster.kinds.pod_groups.store.get("default/pg")
    assert known is not None
    change = DeletePodGroup(namespace="default", name="pg", uid="another", why="test")
    with pytest.raises(ObserveAgainError):
        await executor.make(change)
    change = DeletePodGroup(namespace="default", name="pg", uid=known.uid, why="test")
    await executor.make(change)
    assert server.all(POD_GROUPS) == []
    assert executor.cluster.kinds.pod_groups.store.get("default/pg") is None
    await executor.make(change)


async def test_pods_are_annotated_ungated_and_deleted_by_uid(server: ApiServer, executor: Executor) -> None:
    """What the pod carries besides stays."""
    pod = server.put(PODS, manifests.pod("demo"))
    uid = pod["metadata"]["uid"]
    await executor.make(
        AnnotatePod(namespace="default", name="demo-0", uid=uid, annotations={names.GROUP_NAME: "x"}, why="test")
    )
    found = server.get(PODS, "default", "demo-0")
    assert found is not None
    assert found["metadata"]["annotations"] == {**pod["metadata"]["annotations"], names.GROUP_NAME: "x"}
    await executor.make(RemoveGate(namespace="default", name="demo-0", uid=uid, gate=names.MINIMUM_GATE, why="test"))
    assert server.asked[-1].body["spec"] == {"schedulingGates": [{"$patch": "delete", "name": names.MINIMUM_GATE}]}
    await executor.make(DeletePod(namespace="default", name="demo-0", uid=uid, why="test"))
    assert server.all(PODS) == []


@pytest.mark.parametrize(
    ("there", "stands", "requests"),
    [
        ({"stray": 3}, False, ["apply", "merge"]),
        ({"leader": 1, "stray": 3}, True, ["merge"]),
        ({"leader": 2}, False, ["apply"]),
    ],
    ids=["both differ", "only theirs is there too", "the apply took it out"],
)
async def test_fields_of_others_are_pruned_where_the_apply_leaves_them(
    server: ApiServer, executor: Executor, there: Json, stands: bool, requests: list[str]
) -> None:
    """No request more than it takes, each on the object that was seen; the store knows the end."""
    uid = server.put(POD_GROUPS, manifest(minTaskMember=there))["metadata"]["uid"]
    await executor.make(replace(applied(uid=uid, minTaskMember={"leader": 1}), prune=STRAY, stands=stands))
    assert _sorts(server) == requests
    known = executor.cluster.kinds.pod_groups.store.get("default/pg")
    assert known is not None
    assert known.spec.min_task_member == {"leader": 1}


async def test_what_is_refused_beside_fields_of_others_comes_after_they_are_gone(
    server: ApiServer, executor: Executor
) -> None:
    """A tier's number is refused beside its name; without a patch to try, the refusal stands."""
    uid = server.put(POD_GROUPS, manifest(minTaskMember={"stray": 3}))["metadata"]["uid"]
    server.fail("PATCH", "podgroups", refused(422, "Invalid"), refused(422, "Invalid"))
    change = applied(uid=uid, minTaskMember={"leader": 1})
    with pytest.raises(Invalid):
        await executor.make(change)
    await executor.make(replace(change, prune=STRAY))
    assert _sorts(server) == ["apply", "apply", "merge", "apply"]
    found = server.get(POD_GROUPS, "default", "pg")
    assert found is not None
    assert found["spec"]["minTaskMember"] == {"leader": 1}


def _sorts(server: ApiServer) -> list[str]:
    return ["apply" if asked.query.get("force") else "merge" for asked in server.writes()]


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_without_the_lease_nothing_is_sent(server: ApiServer, executor: Executor, seconds: float) -> None:
    """Not even once."""
    executor.leadership = Lease(seconds)
    with pytest.raises(NotLeadingError):
        await executor.make(applied())
    with pytest.raises(NotLeadingError):
        await executor.write_status({"metadata": {"namespace": "default", "name": "demo"}})
    assert server.asked == []


def test_waves_keep_the_order_of_sorts() -> None:
    """Neighbours of one sort together, the sorts one after the other."""
    gone = DeletePodGroup(namespace="d", name="a", uid="", why="")
    changes: list[Change] = [gone, applied("b"), applied("c"), gone]
    assert [[change.name for change in wave] for wave in waves(changes)] == [["a"], ["b", "c"], ["a"]]


async def test_a_failure_ends_its_wave_and_what_was_made_is_known(server: ApiServer, executor: Executor) -> None:
    """Those under way are finished, none is begun after it."""
    server.fail("PATCH", "podgroups", refused(403, "Forbidden"))
    made: list[Change] = []
    with pytest.raises(Forbidden):
        await executor.make_all([applied(f"pg-{number}") for number in range(40)], made)
    assert len(made) == len(server.all(POD_GROUPS)) < 40


async def test_no_pod_group_is_deleted_under_a_pod_that_was_not_seen_yet(server: ApiServer, executor: Executor) -> None:
    """The watch of pods may be behind: the group has begun its next life, and its PodGroup stays."""
    raw = manifests.pod("demo")
    shared = {
        name: raw["metadata"]["labels"][name] for name in (names.LWS_NAME, names.GROUP_INDEX, names.REVISION_HASH)
    }
    wanted = manifest()
    wanted["metadata"]["labels"] = shared
    await executor.make(ApplyPodGroup(namespace="default", name="pg", manifest=wanted, why="test", uid=""))
    known = executor.cluster.kinds.pod_groups.store.get("default/pg")
    assert known is not None
    server.put(PODS, raw)
    with pytest.raises(ObserveAgainError):
        await executor.make(DeletePodGroup(namespace="default", name="pg", uid=known.uid, why="test"))
    assert server.all(POD_GROUPS)
