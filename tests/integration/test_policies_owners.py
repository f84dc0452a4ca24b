"""LeaderWorkerSets that somebody else makes, and names (rows 11 and 14).

Covers: children of a DisaggregatedSet or an inference service, opted in by their pod templates or by the namespace; one
name in two namespaces. Left out: the controllers of those owners; group indices that are no numbers, which LWS does not
make yet, and planning of 1,000 groups (tests/unit/mapping).
"""

from tests.integration.api import LEADER_WORKER_SETS, NAMESPACES
from tests.integration.builders import leader_worker_set
from tests.integration.expectations import condition_is, groups_are, our_groups, small_pod
from tests.integration.rightness import settled

GANG = "lws-volcano.io/gang"


def _child(owner, role, **more):
    """An LWS as DisaggregatedSet's controller makes it: named and labelled, its owner's annotations left behind."""
    name = f"{owner}-0-5f3a1c2b-{role}"
    lws = leader_worker_set(name, size=2, gang=False, **more)
    prefix = "disaggregatedset.x-k8s.io/"
    labels = {prefix + "name": owner, prefix + "slice": "0", prefix + "revision": "5f3a1c2b", prefix + "role": role}
    lws["metadata"]["labels"] = labels
    return lws


async def test_children_opted_in_by_their_pod_templates(watched):
    """Prefill and decode each get their PodGroups; both sides run."""
    await watched.nodes(2)
    template = small_pod(annotations={GANG: "true"})
    children = [_child("serve", role, replicas=2, worker=template) for role in ("prefill", "decode")]
    for child in children:
        await watched.create(child)
    for child in children:
        await watched.running(child["metadata"]["name"], 4)
        await groups_are(watched, child["metadata"]["name"], "01")
        await condition_is(watched, child["metadata"]["name"], "AllGroupsPlaced")
    await settled(watched)


async def test_children_opted_in_by_the_namespace(watched):
    """The annotation on the namespace is enough, and a child may still say no."""
    await watched.nodes(2)
    await watched.api.patch(NAMESPACES, watched.namespace, {"metadata": {"annotations": {GANG: "true"}}})
    await watched.create(_child("serve", "decode", worker=small_pod()))
    await watched.create(_child("serve", "prefill", worker=small_pod(annotations={GANG: "false"})))
    for role in ("decode", "prefill"):
        await watched.running(f"serve-0-5f3a1c2b-{role}", 2)
    assert [name.split("-")[3] for name in await our_groups(watched)] == ["decode"]


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
