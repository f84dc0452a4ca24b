"""Another size, other resources: a new revision with new numbers, the old one untouched (row 5); scaling (row 15)."""

from tests.integration.builders import leader_worker_set
from tests.integration.expectations import GPU, groups_are, history, our_groups, small_pod, updated
from tests.integration.rightness import settled


async def test_size_2_to_4_to_1(watched):
    """Every size has PodGroups of its own; at size 1 there is no worker key."""
    await watched.nodes(4)
    await watched.create(leader_worker_set(replicas=2, size=2, worker=small_pod()))
    await watched.running("demo", 4)
    for size, tasks in ((4, {"leader": 1, "worker": 3}), (1, {"leader": 1})):
        before = await our_groups(watched)
        await watched.change_template("demo", size=size)
        await updated(watched, "demo", 2 * size)
        await settled(watched)
        groups = await groups_are(watched, "demo", "01")
        for group in groups:
            spec = group["spec"]
            assert (spec["minMember"], spec["minTaskMember"], spec["minResources"]) == (size, tasks, {GPU: str(size)})
        for name, one in before.items():
            assert [state["spec"] for state in history(watched.events, name)] == [one["spec"]] * len(
                history(watched.events, name)
            )


async def test_from_ten_gpus_to_one(watched):
    """Groups that could not be placed are replaced by some that can; minResources follow the revision."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(size=2, worker=small_pod(10)))
    (large,) = await groups_are(watched, "demo", "0")
    assert large["spec"]["minResources"] == {GPU: "20"}
    await watched.change_template("demo", workerTemplate=small_pod(1))
    await updated(watched, "demo", 2)
    await settled(watched)
    (small,) = await groups_are(watched, "demo", "0")
    assert small["spec"]["minResources"] == {GPU: "2"}
    assert small["metadata"]["name"] != large["metadata"]["name"]


async def test_scaling_by_the_sub_resource_is_the_same_as_an_edit(watched):
    """As HPA and KEDA do it, then by an edit: the PodGroups are those of the groups that exist."""
    await watched.nodes(4)
    await watched.create(leader_worker_set(replicas=1, size=2, worker=small_pod()))
    await watched.running("demo", 2)
    await watched.scale("demo", 3)
    await watched.running("demo", 6)
    await groups_are(watched, "demo", "012")
    await watched.change("demo", replicas=2)
    await watched.running("demo", 4)
    await groups_are(watched, "demo", "01")
    await settled(watched)
