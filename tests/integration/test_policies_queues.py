"""Queue and priority class: where they are written, what is wrong with them, recovery without a restart (row 12)."""

import pytest

from tests.integration.api import NAMESPACES, PRIORITY_CLASSES, QUEUES
from tests.integration.builders import leader_worker_set
from tests.integration.expectations import condition_is, groups_are, small_pod
from tests.integration.rightness import settled

QUEUE = "scheduling.volcano.sh/queue-name"


@pytest.fixture
async def queue(watched):
    """An open queue of the test's own."""
    name = f"team-{watched.namespace}"
    await watched.create({"metadata": {"name": name}, "spec": {"weight": 1, "reclaimable": True}}, QUEUES)

    async def opened():
        return (await watched.api.get(QUEUES, name)).get("status", {}).get("state") == "Open"

    await watched.eventually(opened)
    return name


async def _state(world, queue, state):
    await world.api.patch(QUEUES, queue, {"status": {"state": state}}, sub="status")


async def _queue_is(world, name):
    async def look():
        (group,) = await groups_are(world, "demo", "0")
        assert group["spec"]["queue"] == name
        return True

    await world.eventually(look)


@pytest.mark.parametrize("where", ["set", "template", "namespace"])
async def test_the_queue_comes_from(watched, queue, where):
    """The LWS, its pod template or the namespace; the LWS wins over all."""
    await watched.nodes(2)
    if where == "namespace":
        await watched.api.patch(NAMESPACES, watched.namespace, {"metadata": {"annotations": {QUEUE: queue}}})
    if where == "set":
        await watched.api.patch(NAMESPACES, watched.namespace, {"metadata": {"annotations": {QUEUE: "nowhere"}}})
    template = small_pod(annotations={QUEUE: queue} if where == "template" else {})
    noted = {QUEUE: queue} if where == "set" else {}
    await watched.create(leader_worker_set(size=2, worker=template, annotations=noted))
    await watched.running("demo", 2)
    await _queue_is(watched, queue)
    await settled(watched)


async def test_a_closed_queue_is_said_and_waited_for(watched, queue, programs):
    """No PodGroup while it is closed, no hot loop; as soon as it is open the group runs."""
    if programs.real_volcano:
        pytest.skip("Volcano's own queue controller opens a queue that is closed by its status")
    await watched.nodes(2)
    await _state(watched, queue, "Closed")
    await watched.create(leader_worker_set(size=2, worker=small_pod(), annotations={QUEUE: queue}))
    condition = await condition_is(watched, "demo", "QueueNotOpen")
    assert queue in condition["message"]
    await _state(watched, queue, "Open")
    await watched.running("demo", 2)
    await condition_is(watched, "demo", "AllGroupsPlaced")
    await settled(watched)


async def test_the_queue_of_a_live_set_changes(watched, queue):
    """The PodGroup moves to the new queue; to one that does not exist it does not move, and the condition says why."""
    await watched.nodes(2)
    await watched.create(leader_worker_set(size=2, worker=small_pod()))
    await watched.running("demo", 2)
    await _queue_is(watched, "default")
    await watched.annotate("demo", **{QUEUE: queue})
    await _queue_is(watched, queue)
    await watched.annotate("demo", **{QUEUE: "nowhere"})
    await condition_is(watched, "demo", "QueueNotFound")
    await _queue_is(watched, queue)
    await watched.annotate("demo", **{QUEUE: None})
    await _queue_is(watched, "default")
    await condition_is(watched, "demo", "AllGroupsPlaced")


@pytest.fixture
async def classes(watched):
    """Two priority classes of the test's own."""
    names = [f"{level}-{watched.namespace}" for level in ("high", "low")]
    for value, name in zip((1000, 10), names, strict=True):
        body = {"metadata": {"name": name}, "value": value}
        await watched.api.create(PRIORITY_CLASSES, body)
    yield names
    for name in names:
        await watched.api.delete(PRIORITY_CLASSES, name)


async def test_the_priority_class_of_the_templates(watched, classes):
    """It is the PodGroup's; a change makes a new revision with the new one."""
    await watched.nodes(2)
    high, low = classes
    await watched.create(leader_worker_set(size=2, worker=small_pod(priorityClassName=high)))
    await watched.running("demo", 2)
    (group,) = await groups_are(watched, "demo", "0")
    assert group["spec"]["priorityClassName"] == high
    await watched.change_template("demo", workerTemplate=small_pod(priorityClassName=low))

    async def changed():
        (now,) = await groups_are(watched, "demo", "0")
        return now["spec"]["priorityClassName"] == low

    await watched.eventually(changed)
    await settled(watched)


async def test_leader_and_workers_of_different_priority(watched, classes):
    """One PodGroup has one class: the condition says which two were asked for."""
    await watched.nodes(2)
    high, low = classes
    leader, worker = (small_pod(priorityClassName=name) for name in (high, low))
    await watched.create(leader_worker_set(size=2, leader=leader, worker=worker))
    condition = await condition_is(watched, "demo", "PriorityClassConflict")
    assert high in condition["message"]
    assert low in condition["message"]
