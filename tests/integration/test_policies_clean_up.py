"""Pods first, PodGroup after, nothing left (row 7).

Covers: replicas 0, every way of deleting an LWS, a namespace that goes, opting out. Left out: scale-down by one
(test_groups), rollouts (test_policies_rollouts).
"""

import pytest

from lws_volcano.api.names import GROUP_NAME
from tests.integration.api import LEADER_WORKER_SETS, NAMESPACES, STATEFUL_SETS
from tests.integration.builders import leader_worker_set
from tests.integration.expectations import condition_is, groups_are, keys, our_groups, small_pod
from tests.integration.rightness import settled


@pytest.fixture
async def running(watched):
    """Two groups of two, running."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(replicas=2, size=2, worker=small_pod()))
    await watched.running("demo", 4)
    await groups_are(watched, "demo", "01")
    return watched


async def _nothing_left(world):
    async def empty():
        left = {*await our_groups(world)}, [pod["metadata"]["name"] for pod in await world.pods()]
        assert left == (set(), []), left
        return True

    await world.eventually(empty, 60)


async def test_at_zero_replicas_nothing_is_left(running):
    """No PodGroup holds queue room for nobody; the condition is True, for there is nothing to place."""
    await running.scale("demo", 0)
    await _nothing_left(running)
    await condition_is(running, "demo", "NoGroups")
    await running.scale("demo", 1)
    await running.running("demo", 2)
    await settled(running)


@pytest.mark.parametrize("how", ["Foreground", "Background"])
async def test_a_deleted_lws_leaves_nothing(running, how):
    """PodGroups go with their LWS, whichever way it is deleted."""
    await running.api.delete(LEADER_WORKER_SETS, "demo", running.namespace, propagationPolicy=how)
    await _nothing_left(running)

    async def gone():
        return await running.api.find(LEADER_WORKER_SETS, "demo", running.namespace) is None

    await running.eventually(gone)


async def test_an_lws_deleted_without_its_dependents_leaves_its_pod_groups_to_the_pods(running):
    """Orphans run on in their PodGroups; when the last pod of a group is gone, so is its PodGroup."""
    before = keys(await running.pods())
    await running.api.delete(LEADER_WORKER_SETS, "demo", running.namespace, propagationPolicy="Orphan")

    async def orphaned():
        groups = (await our_groups(running)).values()
        return groups and not any(one["metadata"].get("ownerReferences") for one in groups)

    await running.eventually(orphaned)
    assert keys(await running.pods()) == before
    assert len(await our_groups(running)) == 2
    await _delete_set(running, "demo")
    await _nothing_left(running)


async def _delete_set(world, name):
    await world.api.delete(STATEFUL_SETS, name, world.namespace, propagationPolicy="Background")


async def test_a_deleted_namespace_goes(running):
    """Nothing of ours keeps it from ending."""
    await running.api.delete(NAMESPACES, running.namespace)

    async def gone():
        return await running.api.find(NAMESPACES, running.namespace) is None

    await running.eventually(gone, 60)


async def test_opting_out_leaves_running_pods_alone(running):
    """The PodGroups stay behind their pods as they are; new groups get none, and the last pod takes its own along."""
    before, pods = await our_groups(running), keys(await running.pods())
    await running.annotate("demo", gang=None)
    await running.scale("demo", 3)
    await running.running("demo", 6)
    after = await our_groups(running)
    assert {name: one["spec"] for name, one in after.items()} == {name: one["spec"] for name, one in before.items()}
    found = await running.pods()
    assert pods.items() <= keys(found).items()
    assert all(
        pod["metadata"]["annotations"][GROUP_NAME].startswith("podgroup-")
        for pod in found
        if pod["metadata"]["name"].startswith("demo-2")
    )
    await running.scale("demo", 0)
    await _nothing_left(running)
