"""A recorded day of the real controllers, lived again: create, 4 -> 2 -> 4, a rolling update, a lost worker, the end.

Covers: in which order leaders are made and removed in each step, and that worker StatefulSets follow their leader.
Leaves out: times, and what only LWS's own gang provider does (the recording had it on). Skips without the recording.
"""

from collections.abc import Sequence

from deploy.local.api import Object
from tests.deploy.traces import events
from tests.integration.api import LEADER_WORKER_SETS, PODS
from tests.integration.builders import leader_worker_set, pod_template
from tests.integration.recorder import Event
from tests.integration.world import World

TRACE = "a-provider-on.jsonl.gz"
GPU = {"nvidia.com/gpu": "8"}
INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
HASH = "leaderworkerset.sigs.k8s.io/template-revision-hash"
Step = tuple[str, str, int]
"""What happened, to which leader, of the how manieth revision."""


def _steps(changes: Sequence[tuple[str, Object]]) -> list[Step]:
    """Leaders made and removed, in order."""
    revisions: list[str] = []
    steps: list[Step] = []
    for type_, pod in changes:
        labels = pod["metadata"]["labels"]
        if labels[HASH] not in revisions:
            revisions.append(labels[HASH])
        if labels.get(INDEX) == "0" and type_ != "MODIFIED":
            steps.append((type_, pod["metadata"]["name"], revisions.index(labels[HASH])))
    return steps


def _of(steps: Sequence[Step], kind: str, revision: int) -> list[str]:
    return [name for type_, name, of in steps if (type_, of) == (kind, revision)]


def _first(steps: Sequence[Step], revision: int) -> list[str]:
    """Leaders of a revision in the order in which each was made for the first time."""
    return list(dict.fromkeys(_of(steps, "ADDED", revision)))


def _lived(changes: Sequence[Event]) -> list[Step]:
    return _steps([(event.type, event.object) for event in changes if event.kind == "Pod"])


async def test_leaders_come_and_go_as_recorded(world: World) -> None:
    """The rolling update in the recorded order; before and after it the same leaders as recorded."""
    there = _steps([(e["type"], e["object"]) for e in events(TRACE) if e["resource"] == "pods"])
    await world.nodes(32)
    async with world.recorder() as recorder:
        await _live(world)
    here = _lived(recorder.events)
    assert _first(here, 1) == _first(there, 1) == ["demo-4", "demo-3", "demo-2", "demo-1", "demo-0"]
    for kind in ("ADDED", "DELETED"):
        for revision in (0, 1):
            # How often a leader is made again depends on where the deletion of the worker meets the rollout.
            assert set(_of(here, kind, revision)) == set(_of(there, kind, revision)), (kind, revision)
    made = {(event.kind, event.name): event.version for event in reversed(recorder.events) if event.type == "ADDED"}
    assert all(made["StatefulSet", f"demo-{i}"] > made["Pod", f"demo-{i}"] for i in range(5))


async def _live(world: World) -> None:
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1}}
    await world.create(leader_worker_set(replicas=4, size=4, rolloutStrategy=rollout))
    await world.running("demo", 16)
    for replicas in (2, 4):
        await world.scale("demo", replicas)
        await world.running("demo", 4 * replicas)
    change = {"spec": {"leaderWorkerTemplate": {"workerTemplate": pod_template(limits=GPU, labels={"version": "2"})}}}
    await world.api.patch(LEADER_WORKER_SETS, "demo", change, world.namespace)

    async def updated() -> bool:
        pods = await world.running("demo", 16)
        surge = any(pod["metadata"]["name"].startswith("demo-4") for pod in pods)
        return not surge and all(pod["metadata"]["labels"].get("version") == "2" for pod in pods)

    await world.eventually(updated, timeout=90)
    before = {pod["metadata"]["uid"] for pod in await world.running("demo", 16)}
    await world.api.delete(PODS, "demo-1-2", world.namespace)

    async def remade() -> bool:
        return len({pod["metadata"]["uid"] for pod in await world.running("demo", 16)} - before) == 4

    await world.eventually(remade, timeout=60)
    await world.api.delete(LEADER_WORKER_SETS, "demo", world.namespace)

    async def gone() -> bool:
        return not await world.pods("demo")

    await world.eventually(gone)
