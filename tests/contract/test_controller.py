"""The whole controller against an API server that fails in every way.

Covers: every end of a watch with work in between, kinds and permissions that come later, an API server that goes away,
strangers and conflicts, no writes without a change, and stopping. Leaves out: what belongs into a PodGroup
(tests/unit/mapping), real LWS and Volcano (tests/integration).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from lws_volcano.api import names
from lws_volcano.api.names import GANG_SCHEDULED
from lws_volcano.api.settings import Settings
from lws_volcano.controller.manager import Manager
from lws_volcano.controller.options import RunOptions
from lws_volcano.kube.client import Client
from lws_volcano.kube.resources import CONTROLLER_REVISIONS, EVENTS, LEADER_WORKER_SETS, POD_GROUPS, PODS, QUEUES
from tests.contract import manifests
from tests.contract.api_server import ApiServer, Fault, Json, refused, status
from tests.contract.clocks import QuickClock


@asynccontextmanager
async def running(server: ApiServer, clock: QuickClock | None = None) -> AsyncIterator[Manager]:
    """A controller without election on this server."""
    server.put(QUEUES, {"apiVersion": QUEUES.api_version, "kind": "Queue", "metadata": {"name": "default"}})
    async with Client.at(server.url) as client, asyncio.TaskGroup() as tasks:
        options = RunOptions(leader_elect=False, clock=clock or QuickClock(), settings=Settings(workers=4))
        manager = Manager(client, options)
        task = tasks.create_task(manager.run())
        try:
            yield manager
        finally:
            manager.stop()
            await task


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until it holds; the limit is for a controller that will never make it so."""
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


def add_group(server: ApiServer, name: str) -> None:
    """An opted-in LeaderWorkerSet of one group, with its first pod."""
    server.put(LEADER_WORKER_SETS, manifests.lws(name))
    server.put(CONTROLLER_REVISIONS, manifests.revision(name))
    server.put(PODS, manifests.pod(name))


def has_pod_group(server: ApiServer, name: str) -> bool:
    """Its PodGroup is there."""
    return server.get(POD_GROUPS, "default", manifests.pod_group_name(name)) is not None


def condition(server: ApiServer, name: str) -> Json:
    """Our condition on a set, empty while there is none."""
    found = server.get(LEADER_WORKER_SETS, "default", name) or {}
    conditions = found.get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == GANG_SCHEDULED), {})


def writes(server: ApiServer, plural: str) -> list[str]:
    """Paths of the writes to one kind."""
    return [asked.path for asked in server.writes() if f"/{plural}" in asked.path]


async def cut(_: ApiServer, request: web.Request) -> web.StreamResponse:
    """A watch that is reset in the middle of a line."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b'{"type": "MODIFIED", "object": {"metada')
    await asyncio.sleep(0.01)
    if request.transport is not None:
        request.transport.abort()
    return response


async def closed(_: ApiServer, request: web.Request) -> web.StreamResponse:
    """A watch that ends cleanly and at once."""
    response = web.StreamResponse()
    await response.prepare(request)
    return response


async def expired_event(_: ApiServer, request: web.Request) -> web.StreamResponse:
    """A watch whose only event says 410."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(web.json_response({"type": "ERROR", "object": status(410, "Expired")}).body + b"\n")
    return response


def on_every_kind(server: ApiServer, *faults: Fault) -> None:
    """Let the next watches of the kinds of a pass end so, and the open ones too."""
    for plural in ("leaderworkersets", "pods", "controllerrevisions", "podgroups"):
        server.fail("WATCH", plural, *faults)
    server.end_watches()


@pytest.mark.parametrize(
    ("faults", "lists"),
    [
        ([closed], 0),
        ([cut], 0),
        ([expired_event], 1),
        ([refused(410, "Expired")], 1),
        ([refused(500, "InternalError")] * 3, 0),
    ],
    ids=["clean end", "reset in mid-line", "410 event", "HTTP 410", "HTTP 500 three times"],
)
async def test_every_end_of_a_watch_is_survived(server: ApiServer, faults: list[Fault], lists: int) -> None:
    """A set made while the watches are down gets its PodGroup, with one list for each 410 and none otherwise."""
    async with running(server):
        add_group(server, "before")
        await eventually(lambda: has_pod_group(server, "before"))
        listed = sum(asked.path == PODS.path() and not asked.watches for asked in server.asked)
        on_every_kind(server, *faults)
        add_group(server, "meanwhile")
        await eventually(lambda: has_pod_group(server, "meanwhile"))
        await eventually(lambda: not server.faults_left())
        add_group(server, "after")
        await eventually(lambda: has_pod_group(server, "after"))
        assert sum(asked.path == PODS.path() and not asked.watches for asked in server.asked) - listed == lists
    assert len(writes(server, "podgroups")) == 3


async def test_one_write_a_group_and_none_without_a_change(server: ApiServer) -> None:
    """A new group costs one apply; looking at every key ten times more costs nothing."""
    async with running(server) as manager:
        for number in range(5):
            add_group(server, f"demo-{number}")
        await eventually(lambda: all(condition(server, f"demo-{number}") for number in range(5)))
        await eventually(lambda: len(server.all(EVENTS)) == 5)
        assert len(writes(server, "podgroups")) == 5
        before = len(server.writes())
        for _ in range(10):
            for key in manager.cluster.lws_keys():
                manager.queue.add(key)
            await eventually(lambda: not len(manager.queue) and not manager.queue.delayed)
        assert server.writes()[before:] == []


async def test_a_group_that_is_placed_in_one_go_costs_one_status_write(server: ApiServer) -> None:
    """States that a starting group only passes through are not written."""
    async with running(server, QuickClock(factor=10)):
        add_group(server, "demo")
        await eventually(lambda: has_pod_group(server, "demo"))
        server.put(PODS, manifests.pod("demo", worker=1))
        server.put(PODS, manifests.pod("demo", node="n1"))
        server.put(PODS, manifests.pod("demo", worker=1, node="n2"))
        await eventually(lambda: bool(condition(server, "demo")))
        assert condition(server, "demo")["status"] == "True"
        assert len(writes(server, "leaderworkersets")) == 1


async def test_nothing_is_written_before_every_cache_is_filled(server: ApiServer) -> None:
    """Pods that cannot be listed yet: no PodGroup is touched for want of them, and the kind is named."""
    server.forbidden.add("pods")
    server.put(LEADER_WORKER_SETS, manifests.lws("demo"))
    left = {**manifests.pod("demo"), "metadata": {**manifests.pod("demo")["metadata"]}}
    async with running(server) as manager:
        await eventually(lambda: bool(manager.cluster.kinds.pods.store.missing))
        assert "pods" in " ".join(manager.cluster.waiting_for())
        assert server.writes() == []
        server.put(PODS, left)
        server.put(CONTROLLER_REVISIONS, manifests.revision("demo"))
        server.forbidden.clear()
        await eventually(lambda: has_pod_group(server, "demo"))


@pytest.mark.parametrize("plural", ["leaderworkersets", "podgroups"])
async def test_a_missing_definition_is_waited_for(server: ApiServer, plural: str) -> None:
    """Volcano or LWS installed after us: work begins without a restart."""
    server.missing.add(plural)
    add_group(server, "demo")
    async with running(server) as manager:
        await eventually(lambda: any(plural in what for what in manager.cluster.waiting_for()))
        server.missing.clear()
        await eventually(lambda: has_pod_group(server, "demo"))


async def test_optional_kinds_may_be_missing_for_good(server: ApiServer) -> None:
    """No permission for queues, priority and runtime classes: the work goes on."""
    server.forbidden |= {"queues", "priorityclasses", "runtimeclasses", "namespaces", "clustertopologies"}
    add_group(server, "demo")
    async with running(server):
        await eventually(lambda: has_pod_group(server, "demo"))


async def test_a_refused_write_becomes_a_condition_and_is_tried_again(server: ApiServer) -> None:
    """No permission to write PodGroups: the set says so, and is served as soon as it is allowed."""
    server.fail("PATCH", "podgroups", *[refused(403, "Forbidden", "may not patch podgroups")] * 3)
    add_group(server, "demo")
    async with running(server):
        await eventually(lambda: condition(server, "demo").get("reason") == "WriteRefused")
        assert "may not patch podgroups" in condition(server, "demo")["message"]
        await eventually(lambda: has_pod_group(server, "demo"))
        await eventually(lambda: condition(server, "demo").get("reason") != "WriteRefused")


async def test_a_stranger_that_comes_first_is_not_touched(server: ApiServer) -> None:
    """A PodGroup of our name that we have not seen yet stays as it is: the create is refused, then it is reported."""

    async def stranger_first(running_server: ApiServer, request: web.Request) -> web.StreamResponse:
        name = manifests.pod_group_name("demo")
        running_server.put(POD_GROUPS, {"metadata": {"namespace": "default", "name": name}, "spec": {"minMember": 99}})
        return await running_server.answer_write(request)

    server.fail("PATCH", "podgroups", stranger_first)
    add_group(server, "demo")
    async with running(server):
        await eventually(lambda: condition(server, "demo").get("reason") == "NameTaken")
    found = server.get(POD_GROUPS, "default", manifests.pod_group_name("demo"))
    assert found is not None
    assert found["spec"] == {"minMember": 99}
    assert names.LWS_NAME not in found["metadata"].get("labels", {})


async def test_an_api_server_that_is_away_is_waited_for(server: ApiServer) -> None:
    """Everything refused for a while; what was missed is caught up on."""
    async with running(server):
        add_group(server, "before")
        await eventually(lambda: has_pod_group(server, "before"))
        server.away = True
        server.end_watches()
        add_group(server, "meanwhile")
        await eventually(lambda: server.turned_away > 20)
        assert not has_pod_group(server, "meanwhile")
        server.away = False
        await eventually(lambda: has_pod_group(server, "meanwhile"))


async def test_a_group_that_is_gone_leaves_nothing(server: ApiServer) -> None:
    """The PodGroup goes with the last pod of its group, the set's own end included."""
    async with running(server):
        for name in ("kept", "scaled", "orphaned"):
            add_group(server, name)
            await eventually(lambda name=name: has_pod_group(server, name))
        server.put(LEADER_WORKER_SETS, manifests.lws("scaled", replicas=0))
        server.remove(PODS, "default", "scaled-0")
        await eventually(lambda: not has_pod_group(server, "scaled"))
        server.remove(LEADER_WORKER_SETS, "default", "orphaned")
        left = server.get(POD_GROUPS, "default", manifests.pod_group_name("orphaned"))
        assert left is not None
        left["metadata"].pop("ownerReferences")
        server.put(POD_GROUPS, left)
        server.remove(PODS, "default", "orphaned-0")
        await eventually(lambda: not has_pod_group(server, "orphaned"))
        assert has_pod_group(server, "kept")


async def test_stopping_ends_everything_that_was_started(server: ApiServer) -> None:
    """No task is left behind, and the second stop does nothing."""
    async with running(server) as manager:
        await eventually(manager.gate.open.is_set)
        ours = {task for task in asyncio.all_tasks() if task.get_name() in {"workers", "queue", "events", "worker-0"}}
        manager.stop()
    assert len(ours) == 4
    assert all(task.done() for task in ours)
