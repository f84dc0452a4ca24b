"""The LeaderWorkerSet and Volcano that integration tests run against (stand-ins, or the real programs where named).

Covers: a set comes to life on KWOK nodes, scales, restarts, rolls and goes, and gangs wait for room.
Leaves out: our own controller and webhook; what a recorded trace says in detail (`test_traces`).
"""

from tests.integration.api import LEADER_WORKER_SETS, POD_GROUPS, PODS
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.world import World

GPU = {"nvidia.com/gpu": "8"}
NAME = "leaderworkerset.sigs.k8s.io/"


def _group(name: str, **spec: object) -> dict[str, object]:
    return {"metadata": {"name": name}, "spec": spec}


def _bound_template(group: str, **more: object) -> dict[str, object]:
    """A template whose pods name their PodGroup themselves."""
    return pod_template(limits=GPU, annotations={"scheduling.k8s.io/group-name": group}, **more)


async def test_pods_carry_the_labels_of_leader_worker_set_at_creation(world: World) -> None:
    """Leader and workers have name, hash, group and worker index, key and size from their first event on."""
    await world.nodes(8)
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(replicas=2, size=3))
        await world.running("demo", 6)
    pods = {pod["metadata"]["name"]: pod["metadata"] for pod in recorder.created("Pod")}
    assert {name: meta["labels"][NAME + "worker-index"] for name, meta in pods.items()} == {
        "demo-0": "0", "demo-0-1": "1", "demo-0-2": "2", "demo-1": "0", "demo-1-1": "1", "demo-1-2": "2",
    }  # fmt: skip
    assert {meta["labels"][NAME + "group-index"] for name, meta in pods.items() if name.startswith("demo-1")} == {"1"}
    assert {meta["annotations"][NAME + "size"] for meta in pods.values()} == {"3"}
    assert len({meta["labels"][NAME + "template-revision-hash"] for meta in pods.values()}) == 1


async def test_pods_without_a_group_are_given_one_a_stateful_set(world: World) -> None:
    """Nothing bound them: Volcano makes `podgroup-<uid>` and runs them one by one."""
    await world.nodes(4)
    await world.create(leader_worker_set(size=3))
    await world.running("demo", 3)
    assert all(name.startswith("podgroup-") for name in await world.pod_groups())


async def test_scaling_removes_and_brings_back_whole_groups(world: World) -> None:
    """Replicas 3, 1, 2 through the scale sub-resource, with the counts in the status."""
    await world.nodes(8)
    await world.create(leader_worker_set(replicas=3, size=2))
    await world.running("demo", 6)
    await world.scale("demo", 1)
    await world.running("demo", 2)
    await world.scale("demo", 2)
    await world.running("demo", 4)

    async def counted() -> bool:
        status = (await world.api.get(LEADER_WORKER_SETS, "demo", world.namespace))["status"]
        return (status["replicas"], status["readyReplicas"]) == (2, 2)

    await world.eventually(counted)


async def test_a_deleted_worker_takes_its_whole_group_along(world: World) -> None:
    """RecreateGroupOnPodRestart: every pod of the group is another one afterwards, the other group stays."""
    await world.nodes(8)
    await world.create(leader_worker_set(replicas=2, size=3))
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await world.running("demo", 6)}
    await world.api.delete(PODS, "demo-0-1", world.namespace)

    async def renewed() -> bool:
        after = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await world.running("demo", 6)}
        changed = {name for name in before if after.get(name) != before[name]}
        return changed == {"demo-0", "demo-0-1", "demo-0-2"}

    await world.eventually(renewed)


async def test_a_rolling_update_goes_through_a_surge_group_first(world: World) -> None:
    """MaxSurge 1 on 3 groups: index 3 comes first, then 2, 1, 0, and index 3 goes in the end."""
    await world.nodes(8)
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1}}
    await world.create(leader_worker_set(replicas=3, size=2, rolloutStrategy=rollout))
    await world.running("demo", 6)
    async with world.recorder() as recorder:
        changed = pod_template(limits=GPU, labels={"version": "2"})
        await world.api.patch(
            LEADER_WORKER_SETS, "demo", {"spec": {"leaderWorkerTemplate": {"workerTemplate": changed}}}, world.namespace
        )

        async def done() -> bool:
            pods = await world.running("demo", 6)
            return all(pod["metadata"]["labels"].get("version") == "2" for pod in pods)

        await world.eventually(done, timeout=60)
    known = {"demo-0", "demo-1", "demo-2"}
    leaders = [
        pod["metadata"]["name"]
        for pod in recorder.created("Pod")
        if pod["metadata"]["labels"].get(NAME + "worker-index") == "0"
        and pod["metadata"]["labels"].get("version") == "2"
    ]
    assert leaders == ["demo-3", "demo-2", "demo-1", "demo-0"] or set(leaders) == known | {"demo-3"}
    assert leaders[0] == "demo-3"


async def test_a_leader_ready_group_makes_its_workers_after_its_leader(world: World) -> None:
    """StartupPolicy LeaderReady: no worker is made before the leader is Ready."""
    await world.nodes(4)
    async with world.recorder() as recorder:
        await world.create(leader_worker_set(size=3, startupPolicy="LeaderReady"))
        await world.running("demo", 3)
    ready = next(
        event.version
        for event in recorder.of("Pod", "MODIFIED")
        if event.name == "demo-0"
        and any(c["type"] == "Ready" and c["status"] == "True" for c in event.object["status"].get("conditions", ()))
    )
    assert all(event.version > ready for event in recorder.of("Pod", "ADDED") if event.name != "demo-0")


async def test_a_gang_waits_for_room_as_a_whole(world: World) -> None:
    """A PodGroup of 4 with room for 3: nothing runs; with one node more, all of it does."""
    await world.nodes(3)
    await world.create(_group("gang", minMember=4, minTaskMember={"leader": 1, "worker": 3}), POD_GROUPS)
    worker = _bound_template("gang", labels={"volcano.sh/task-spec": "worker"})
    leader = _bound_template("gang", labels={"volcano.sh/task-spec": "leader"})
    await world.create(leader_worker_set(size=4, worker=worker, leader=leader))

    async def refused() -> bool:
        group = (await world.pod_groups())["gang"]
        conditions = group.get("status", {}).get("conditions", [])
        return any(c["type"] == "Unschedulable" and "4 minAvailable" in c["message"] for c in conditions)

    await world.eventually(refused)
    assert not any(pod["spec"].get("nodeName") for pod in await world.pods("demo"))
    await world.nodes(4)
    await world.running("demo", 4)


async def test_pods_of_a_missing_group_wait_without_a_word(world: World) -> None:
    """A group name without its PodGroup: no node, no condition, and no PodGroup made for it."""
    await world.nodes(4)
    await world.create(leader_worker_set(size=2, worker=_bound_template("nowhere")))

    async def there() -> bool:
        return len(await world.pods("demo")) == 2

    await world.eventually(there)
    assert not await world.pod_groups()
    assert not any(pod["spec"].get("nodeName") for pod in await world.pods("demo"))
    await world.create(_group("nowhere", minMember=2), POD_GROUPS)
    await world.running("demo", 2)


async def test_everything_goes_on_after_the_api_server_was_away(world: World) -> None:
    """Killed and started again: sets made afterwards come to life as before."""
    await world.nodes(4)
    await world.create(leader_worker_set("before", size=2))
    await world.running("before", 2)
    await world.plane.restart_apiserver(kill=True)
    await world.create(leader_worker_set("after", size=2))
    await world.running("after", 2, timeout=60)


async def test_a_deleted_set_leaves_nothing(world: World) -> None:
    """Pods and StatefulSets go with the set."""
    await world.nodes(4)
    await world.create(leader_worker_set(replicas=2, size=2))
    await world.running("demo", 4)
    await world.api.delete(LEADER_WORKER_SETS, "demo", world.namespace)

    async def empty() -> bool:
        return not await world.pods() and not await world.pod_groups()

    await world.eventually(empty)
