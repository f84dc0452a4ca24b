"""What is not ours is left alone, what is ours is put right (rows 9, 10 and 13).

Covers: the user's own group name, LWS's own Volcano provider, edits and deletions by others, a stranger with our name,
gates of somebody else, pods that have their node already. Left out: `spec.scheduling`, which the LWS installed here
does not have (tests/unit/mapping).
"""

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from deploy.local.control_plane import ControlPlane
from deploy.local.programs import start_programs
from deploy.local.real_programs import RealPrograms
from lws_volcano.api.names import GROUP_NAME
from tests.integration.api import LEADER_WORKER_SETS, POD_GROUPS, PODS
from tests.integration.builders import leader_worker_set
from tests.integration.conftest import OUR_CRDS
from tests.integration.controllers import Controller, our_writes
from tests.integration.expectations import (
    condition_is,
    events_of,
    groups_are,
    made_anew,
    our_groups,
    revision_of,
    small_pod,
)
from tests.integration.rightness import settled
from tests.integration.world import World


@pytest.mark.parametrize("replicas", [1, 3])
async def test_a_group_name_of_the_users_own(watched, replicas):
    """We stand down and say why; with several groups the warning is that they would share one PodGroup."""
    await watched.nodes(2)
    own = small_pod(annotations={GROUP_NAME: "mine"})
    await watched.create({"metadata": {"name": "mine"}, "spec": {"minMember": 2 * replicas}}, POD_GROUPS)
    await watched.create(leader_worker_set(replicas=replicas, size=2, worker=own))
    await watched.running("demo", 2 * replicas)
    condition = await condition_is(watched, "demo", "StoodDown")
    assert ("share" in condition["message"]) == (replicas > 1)

    async def said():
        return "StoodDown" in await events_of(watched, "demo")

    await watched.eventually(said)
    assert await our_groups(watched) == {}
    assert {write.resource for write in our_writes(watched)} == {"leaderworkersets/status", "events"}


async def test_the_own_provider_of_lws(watched, tmp_path):
    """A PodGroup under a group's name that belongs to the leader pod: LWS makes them, so we do not."""
    async with _provider_on(watched, tmp_path) as there:
        await there.nodes(2)
        await there.create(leader_worker_set(size=2, worker=small_pod(), gang=False))
        await there.running("demo", 2)
        made = await _made_by_lws(there)
        await there.annotate("demo", gang="true")
        condition = await condition_is(there, "demo", "StoodDown")
        assert "own Volcano provider" in condition["message"]
        now = await there.api.get(POD_GROUPS, made["metadata"]["name"], there.namespace)
        assert (now["metadata"]["uid"], now["spec"]) == (made["metadata"]["uid"], made["spec"])
        if there.programs.real_lws:
            await _both_from_the_first_moment(there)


async def _both_from_the_first_moment(there):
    """Opted in while the provider is on: the provider's PodGroups stand whole, and ours are refused, not merged in."""
    await there.nodes(8)
    await there.create(leader_worker_set("both", replicas=3, size=2, worker=small_pod()))
    await there.running("both", 6)
    condition = await condition_is(there, "both", "StoodDown")
    assert "groups placed" not in condition["message"]
    made = [group for name, group in (await there.pod_groups()).items() if name.startswith("both-")]
    assert len(made) == 3
    for group in made:
        assert [owner["kind"] for owner in group["metadata"]["ownerReferences"]] == ["Pod"]
        assert "lws-volcano" not in {entry["manager"] for entry in group["metadata"]["managedFields"]}


@asynccontextmanager
async def _provider_on(watched, folder):
    """A control plane of its own with the real LWS and its provider, where it is named."""
    real = replace(RealPrograms.from_environment(), lws_provider=True)
    if not watched.programs.real_lws:
        yield watched
        return
    async with ControlPlane(crds=sorted(OUR_CRDS.glob("*.yaml"))) as plane, plane.api("test") as api:
        there = World(plane, api, "default", await start_programs(plane, period=0.1, real=real))
        controller = await Controller(there, folder).start("--webhook-failure-policy", "Fail")
        yield there
        await controller.stop()


async def _made_by_lws(world):
    """The PodGroup of group 0 that the provider made, or one as it makes them."""
    leader, _ = await world.pods("demo")
    name = f"demo-0-{await revision_of(world, 'demo')}"
    if not world.programs.real_lws:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "demo-0", "uid": leader["metadata"]["uid"]}
        owners = [{**owner, "controller": True}]
        await world.create(
            {"metadata": {"name": name, "ownerReferences": owners}, "spec": {"minMember": 2}}, POD_GROUPS
        )
    return await world.api.get(POD_GROUPS, name, world.namespace)


@pytest.mark.parametrize(
    "edit",
    [
        {"spec": {"minMember": 1}},
        {"spec": {"minTaskMember": {"worker": None}}},
        {"spec": {"minTaskMember": {"stranger": 3}}},
        {"spec": {"minResources": {"cpu": "7"}}},
        {"spec": {"priorityClassName": "system-node-critical"}},
        {"metadata": {"labels": {"leaderworkerset.sigs.k8s.io/group-index": "9"}}},
        {"metadata": {"ownerReferences": None}},
    ],
    ids=["minMember", "task-gone", "task-added", "resource-added", "priority", "label", "owner"],
)
async def test_our_fields_are_put_right_after_an_edit(watched, edit):
    """Whatever was changed: as it was, with one write; an orphan is somebody else's."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(size=2, worker=small_pod()))
    await watched.running("demo", 2)
    (before,) = await groups_are(watched, "demo", "0")
    await condition_is(watched, "demo", "AllGroupsPlaced")
    name, written = before["metadata"]["name"], len(our_writes(watched))
    await watched.api.patch(POD_GROUPS, name, edit, watched.namespace)
    if "ownerReferences" in edit.get("metadata", {}):
        await condition_is(watched, "demo", "NameTaken")
        return

    async def right():
        now = await watched.api.get(POD_GROUPS, name, watched.namespace)
        assert (now["spec"], now["metadata"]["labels"]) == (before["spec"], before["metadata"]["labels"])
        return True

    await watched.eventually(right)
    await settled(watched)
    groups = [write for write in our_writes(watched)[written:] if write.resource == "podgroups"]
    assert len(groups) == 1, groups


async def test_a_pod_group_of_ours_that_somebody_deletes(watched):
    """It is made again, the same but for its UID; the pods run on."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(size=2, worker=small_pod()))
    pods = {pod["metadata"]["uid"] for pod in await watched.running("demo", 2)}
    (before,) = await groups_are(watched, "demo", "0")
    watched.check = lambda: None  # the observer would take the deletion for ours
    await watched.api.delete(POD_GROUPS, before["metadata"]["name"], watched.namespace)

    async def again():
        (now,) = await groups_are(watched, "demo", "0")
        assert now["metadata"]["uid"] != before["metadata"]["uid"]
        assert now["spec"] == before["spec"]
        return True

    await watched.eventually(again)
    assert {pod["metadata"]["uid"] for pod in await watched.running("demo", 2)} == pods
    watched.forgive = ("rule 2",)


async def test_a_stranger_with_our_name(watched):
    """Reported and not adopted; when it is gone, ours comes and the group runs."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(replicas=0, size=2, worker=small_pod()))
    revision = await watched.eventually(lambda: revision_of(watched, "demo"))
    name = f"demo-0-{revision}"
    stranger = await watched.create({"metadata": {"name": name}, "spec": {"minMember": 5}}, POD_GROUPS)
    await watched.scale("demo", 1)
    condition = await condition_is(watched, "demo", "NameTaken")
    assert name in condition["message"]
    now = await watched.api.get(POD_GROUPS, name, watched.namespace)
    assert (now["spec"], now["metadata"].get("labels")) == (stranger["spec"], None)
    await watched.api.delete(POD_GROUPS, name, watched.namespace)
    await watched.running("demo", 2)
    await settled(watched)


async def test_gates_of_somebody_else(watched):
    """The condition names the gate; the group runs as soon as its owner takes it off."""
    await watched.nodes(2)
    gated = small_pod(schedulingGates=[{"name": "example.com/quota"}])
    await watched.create(leader_worker_set(size=2, worker=gated))
    condition = await condition_is(watched, "demo", "Gated")
    assert "example.com/quota (2 pods)" in condition["message"]
    for name in ("demo-0", "demo-0-1"):
        await watched.api.patch(PODS, name, {"spec": {"schedulingGates": []}}, watched.namespace)
    await watched.running("demo", 2)
    await settled(watched)


async def test_a_running_set_that_is_opted_in_later(watched):
    """Placed, but by no gang: the condition says so; a group that is made anew is in its PodGroup."""
    await watched.nodes(4)
    await watched.create(leader_worker_set(replicas=2, size=2, worker=small_pod(), gang=False))
    await watched.running("demo", 4)
    await watched.annotate("demo", gang="true")
    condition = await condition_is(watched, "demo", "PodNotInGang")
    assert condition["status"] == "False"
    assert "group 0" in condition["message"]
    assert await our_groups(watched) == {}
    old = await watched.pods("demo")
    for name in ("demo-0", "demo-1"):
        await watched.api.delete(PODS, name, watched.namespace)

    await made_anew(watched, "demo", old)
    await groups_are(watched, "demo", "01")
    await condition_is(watched, "demo", "AllGroupsPlaced")
    await settled(watched)


async def test_pods_whose_node_the_user_chose(watched):
    """They are bound at creation: placed, counted, in their PodGroup."""
    (node, *_) = await watched.nodes(2)
    await watched.create(leader_worker_set(size=2, worker=small_pod(nodeName=node)))
    await watched.running("demo", 2)
    await condition_is(watched, "demo", "AllGroupsPlaced")
    lws = await watched.api.get(LEADER_WORKER_SETS, "demo", watched.namespace)
    assert lws["spec"]["replicas"] == 1
    await settled(watched)
