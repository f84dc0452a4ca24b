"""LeaderWorkerSets that somebody else makes, and names (rows 11 and 14).

Covers: children of a DisaggregatedSet or an inference service, opted in by their pod templates or by the namespace; one
name in two namespaces; a group index that is no number; many groups. Where the real LWS manager is named its own
controller makes the children, else the test does as that controller would. Left out: other owners' controllers.
"""

import os
from contextlib import asynccontextmanager

import pytest

from lws_volcano.api.names import GROUP_INDEX, GROUP_KEY, LWS_NAME, REVISION_HASH, SIZE, WORKER_INDEX
from tests.integration.api import DISAGGREGATED_SETS, LEADER_WORKER_SETS, NAMESPACES, PODS
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.expectations import condition_is, groups_are, our_groups, revision_of, small_pod, updated
from tests.integration.rightness import settled

GANG = "lws-volcano.io/gang"
GROUPS = int(os.environ.get("LWS_VOLCANO_TEST_GROUPS", "60"))
"""Of one set; a thousand take some minutes."""
PREFIX = "disaggregatedset.x-k8s.io/"
REVISION = "5f3a1c2b"


@asynccontextmanager
async def disaggregated(world, roles):
    """A DisaggregatedSet `serve` of these roles: their templates and numbers of groups of 2; gives role -> LWS name."""
    if world.programs.real_lws:
        body = {"metadata": {"name": "serve"}, "spec": {"slices": 1, "roles": [_role(*role) for role in roles]}}
        await world.create(body, DISAGGREGATED_SETS)
    else:
        for role, template, replicas in roles:
            await world.create(_child(role, template, replicas))
    try:
        yield await world.eventually(lambda: _children(world, [role for role, *_ in roles]))
    finally:
        if world.programs.real_lws:
            await world.api.delete(DISAGGREGATED_SETS, "serve", world.namespace)


def _role(name, template, replicas):
    """The kind has no schema here, so its defaults are written out."""
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}}
    spec = leader_worker_set(
        replicas=replicas,
        size=2,
        worker=template,
        startupPolicy="LeaderCreated",
        restartPolicy="RecreateGroupOnPodRestart",
        rolloutStrategy=rollout,
    )["spec"]
    return {"name": name, "scaling": {"mode": "Static"}, "metadata": {}, "spec": spec}


def _child(role, template, replicas, revision=REVISION):
    """An LWS as DisaggregatedSet's controller makes it: named and labelled, its owner's annotations left behind."""
    lws = leader_worker_set(f"serve-0-{revision}-{role}", replicas=replicas, size=2, gang=False, worker=template)
    labels = {"name": "serve", "slice": "0", "revision": revision, "role": role}
    lws["metadata"]["labels"] = {PREFIX + key: value for key, value in labels.items()}
    return lws


async def _children(world, roles):
    found = await world.api.list(LEADER_WORKER_SETS, world.namespace, labelSelector=f"{PREFIX}name=serve")
    names = {one["metadata"]["labels"][PREFIX + "role"]: one["metadata"]["name"] for one in found}
    assert sorted(names) == sorted(roles), names
    return names


async def test_children_opted_in_by_their_pod_templates(watched):
    """Prefill and decode each get their PodGroups; both sides run."""
    await watched.nodes(2)
    template = small_pod(annotations={GANG: "true"})
    async with disaggregated(watched, [("prefill", template, 2), ("decode", template, 2)]) as children:
        for child in children.values():
            await watched.running(child, 4)
            await groups_are(watched, child, "01")
            await condition_is(watched, child, "AllGroupsPlaced")
        await settled(watched)


async def test_children_opted_in_by_the_namespace(watched):
    """The annotation on the namespace is enough, and a child may still say no."""
    await watched.nodes(2)
    await watched.api.patch(NAMESPACES, watched.namespace, {"metadata": {"annotations": {GANG: "true"}}})
    own = small_pod(annotations={GANG: "false"})
    async with disaggregated(watched, [("decode", small_pod(), 1), ("prefill", own, 1)]) as children:
        for child in children.values():
            await watched.running(child, 2)
        assert [name.rsplit("-", 2)[0] for name in await our_groups(watched)] == [children["decode"]]


async def test_a_new_template_of_a_disaggregated_set(watched):
    """Its controller makes new sets beside the old ones: their groups come, the old ones' go with their pods."""
    await watched.nodes(4)
    before = small_pod(annotations={GANG: "true"})
    roles = ("prefill", "decode")
    async with disaggregated(watched, [(role, before, 1) for role in roles]) as old:
        for child in old.values():
            await watched.running(child, 2)
        after = small_pod(annotations={GANG: "true"}, labels={"version": "2"})
        await _roll(watched, [(role, after, 1) for role in roles], old)

        async def replaced():
            new = await _children(watched, roles)
            assert not {*new.values()} & {*old.values()}
            return new

        for child in (await watched.eventually(replaced, 60)).values():
            await updated(watched, child, 2)
        await settled(watched)
        assert len(await our_groups(watched)) == 2


async def _roll(world, roles, old):
    if world.programs.real_lws:
        changed = {"spec": {"roles": [_role(*role) for role in roles]}}
        await world.api.patch(DISAGGREGATED_SETS, "serve", changed, world.namespace)
        return
    for role, template, replicas in roles:
        await world.create(_child(role, template, replicas, "77aa21c0"))
        await world.api.delete(LEADER_WORKER_SETS, old[role], world.namespace)


async def test_a_group_index_that_is_no_number(watched):
    """LWS leaves an index alone that is on the pod already: the group is one like any other."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(replicas=1, size=2, worker=small_pod()))
    await watched.running("demo", 2)
    leader = small_pod()
    revision = await revision_of(watched, "demo")
    labels = {LWS_NAME: "demo", GROUP_INDEX: "blue", WORKER_INDEX: "0", REVISION_HASH: revision, GROUP_KEY: "blue"}
    metadata = {"name": "demo-blue", "labels": labels, "annotations": {SIZE: "2"}}
    await watched.create({"metadata": metadata, "spec": leader["spec"]}, PODS)
    await watched.running("demo", 4)
    groups = await our_groups(watched, "demo")
    assert sorted(groups) == [f"demo-0-{revision}", f"demo-blue-{revision}"]
    assert groups[f"demo-blue-{revision}"]["spec"]["minTaskMember"] == {"leader": 1, "worker": 1}
    await watched.api.delete(PODS, "demo-blue", watched.namespace)
    await watched.running("demo", 2)
    await groups_are(watched, "demo", "0")


async def test_the_field_manager_of_the_owner_is_respected(watched):
    """An owner that applies its LWS again and again meets no conflict, and our condition stays."""
    await watched.nodes(2)
    child = leader_worker_set("service-workload", size=2, worker=small_pod())
    await watched.apply(LEADER_WORKER_SETS, child)
    await watched.running("service-workload", 2)
    await condition_is(watched, "service-workload", "AllGroupsPlaced")
    await watched.apply(LEADER_WORKER_SETS, child)
    await condition_is(watched, "service-workload", "AllGroupsPlaced")
    await settled(watched)


async def test_one_name_in_two_namespaces(watched):
    """Two sets of one name and one template (so one revision hash): each has PodGroups in its own namespace."""
    await watched.nodes(2)
    other = f"{watched.namespace}-other"
    await watched.api.create(NAMESPACES, {"metadata": {"name": other}})
    try:
        lws = leader_worker_set(replicas=2, size=2, worker=small_pod())
        await watched.create(lws)
        await watched.api.create(LEADER_WORKER_SETS, {**lws, "metadata": {**lws["metadata"], "namespace": other}})
        await watched.running("demo", 4)
        await groups_are(watched, "demo", "01")
        await settled(watched)
        before = await our_groups(watched)
        await watched.api.delete(LEADER_WORKER_SETS, "demo", other)
        await watched.running("demo", 4)
        assert {*await our_groups(watched)} == {*before}
    finally:
        await watched.api.delete(LEADER_WORKER_SETS, "demo", other)
        await watched.api.delete(NAMESPACES, other)


@pytest.mark.timeout(300)
async def test_many_groups_of_one_set(watched):
    """Each has its PodGroup, named after it; all run, and nothing is written once they do."""
    await watched.nodes(12)
    worker = pod_template(requests={"cpu": "100m"})
    await watched.create(leader_worker_set("fleet", replicas=GROUPS, size=1, worker=worker))

    async def all_there():
        made = await our_groups(watched)
        return sorted(int(name.split("-")[1]) for name in made) == list(range(GROUPS))

    await watched.eventually(all_there, timeout=200)
    await condition_is(watched, "fleet", "AllGroupsPlaced", timeout=200)
    await settled(watched)
