"""A PodGroup outlives the restart of its group, whatever the restart policy and whatever broke (row 3).

Covers: leader or worker deleted, worker evicted, node lost; members that end slowly; late events of old pods.
Left out: leader-first groups (test_policies_startup), a controller that is away meanwhile (test_random_walk).
"""

import pytest

from lws_volcano.api.names import GROUP_NAME
from tests.integration.api import NODES, PODS
from tests.integration.builders import leader_worker_set
from tests.integration.expectations import condition_is, groups_are, keys, our_groups, small_pod, uids
from tests.integration.rightness import settled

POLICIES = {
    "always": "RecreateGroupOnPodRestart",
    "after": "RecreateGroupAfterStart",
    "none": "None",
    "old": "Default",
}
HOLD = "example.com/hold"


async def _delete(world, name):
    await world.api.delete(PODS, name, world.namespace)


async def _evict(world, name):
    path = PODS.path(world.namespace, name, "eviction")
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": world.namespace}}
    await world.api.request("POST", path, body)


async def _lose_node(world, name):
    pod = await world.api.get(PODS, name, world.namespace)
    lost = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    await world.api.patch(NODES, pod["spec"]["nodeName"], {"spec": {"taints": [lost]}})


@pytest.mark.parametrize(
    ("pod", "harm"),
    [("0", _delete), ("0-1", _delete), ("0-1", _evict), ("0-2", _lose_node)],
    ids=["leader-deleted", "worker-deleted", "worker-evicted", "node-lost"],
)
async def test_the_pod_group_outlives_what_happens_to_its_pods(watched, pod, harm):
    """One LWS of every restart policy: the same PodGroups with the same spec afterwards, all groups whole again."""
    await watched.nodes(16)
    worker = small_pod(8 if harm is _lose_node else 1)
    for name, policy in POLICIES.items():
        await watched.create(leader_worker_set(name, size=3, worker=worker, restartPolicy=policy))
    for name in POLICIES:
        await watched.running(name, 3)
    before = {name: (one["metadata"]["uid"], one["spec"]) for name, one in (await our_groups(watched)).items()}
    hurt = {name: keys(await watched.pods(name))[f"{name}-{pod}"] for name in POLICIES}
    for name in POLICIES:
        await harm(watched, f"{name}-{pod}")

    async def replaced():
        return not uids(await watched.pods()) & {*hurt.values()}

    await watched.eventually(replaced, 60)
    await settled(watched)
    after = {name: (one["metadata"]["uid"], one["spec"]) for name, one in (await our_groups(watched)).items()}
    assert after == before


async def test_members_that_end_slowly_do_not_count_as_present(watched):
    """A worker held by a finalizer: not placed any more, its PodGroup stays, and the group is whole again after it."""
    await watched.nodes(4)
    await watched.create(leader_worker_set(size=3, worker=small_pod(), restartPolicy="None"))
    await watched.running("demo", 3)
    (before,) = await groups_are(watched, "demo", "0")
    await condition_is(watched, "demo", "AllGroupsPlaced")
    held = {"metadata": {"finalizers": [HOLD]}}
    await watched.api.patch(PODS, "demo-0-1", held, watched.namespace)
    await _delete(watched, "demo-0-1")
    condition = await condition_is(watched, "demo", "PodsNotCreated")
    assert "0 of 1 groups placed" in condition["message"]
    await watched.api.patch(PODS, "demo-0-1", {"metadata": {"finalizers": None}}, watched.namespace)
    await watched.running("demo", 3)
    await settled(watched)
    (after,) = await groups_are(watched, "demo", "0")
    assert (after["metadata"]["uid"], after["spec"]) == (before["metadata"]["uid"], before["spec"])


async def test_late_events_of_the_old_pods_change_nothing(watched):
    """Old workers of the same names linger while the new leader is there: one PodGroup, untouched."""
    await watched.nodes(4)
    await watched.create(leader_worker_set(size=3, worker=small_pod()))
    before = keys(await watched.running("demo", 3))
    (group,) = await groups_are(watched, "demo", "0")
    for name in ("demo-0-1", "demo-0-2"):
        held = {"metadata": {"finalizers": [HOLD]}}
        await watched.api.patch(PODS, name, held, watched.namespace)
    await _delete(watched, "demo-0")

    async def doomed():
        pods = {pod["metadata"]["name"]: pod["metadata"] for pod in await watched.pods("demo")}
        return all("deletionTimestamp" in pods[name] for name in ("demo-0-1", "demo-0-2"))

    await watched.eventually(doomed)
    for name in ("demo-0-1", "demo-0-2"):
        freed = {"metadata": {"finalizers": None, "annotations": {"example.com/late": "true"}}}
        await watched.api.patch(PODS, name, freed, watched.namespace)

    async def renewed():
        pods = await watched.running("demo", 3)
        assert {pod["metadata"]["annotations"][GROUP_NAME] for pod in pods} == {group["metadata"]["name"]}
        return not uids(pods) & {*before.values()}

    await watched.eventually(renewed)
    await settled(watched)
    (after,) = await groups_are(watched, "demo", "0")
    assert (after["metadata"]["uid"], after["spec"]) == (group["metadata"]["uid"], group["spec"])
