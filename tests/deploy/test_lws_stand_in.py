"""The LeaderWorkerSet stand-in's decisions against the recorded real controller, and their own invariants.

Covers: revisions, both StatefulSets, pod admission, partition and replicas of every recorded rollout step, status,
validation. Leaves out: effects (`tests/integration/test_stand_ins.py`). Trace tests skip without the traces.
"""

import datetime as dt
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local.admission import Denied, differences
from deploy.local.lws_stand_in import names
from deploy.local.lws_stand_in.pod_admission import admit_pod
from deploy.local.lws_stand_in.revision import content_hash, new_revision, restored
from deploy.local.lws_stand_in.rollout import Budget, GroupState, Rollout, next_step, share
from deploy.local.lws_stand_in.set_admission import default_set, validate_set
from deploy.local.lws_stand_in.stateful_sets import leader_set, worker_set
from deploy.local.lws_stand_in.status import new_status
from tests.deploy.traces import Json, recorded, states
from tests.integration.builders import leader_worker_set

TRACES = (
    "a-provider-on.jsonl.gz", "b-our-webhook.jsonl", "d-leaderready-two-phase.jsonl", "h-subgroups.jsonl",
    "i-scale-zero-delete-restart.jsonl.gz", "m-node-not-ready.jsonl", "rolling-update-lazy-podgroups.jsonl.gz",
)  # fmt: skip
ROLLOUTS = ("a-provider-on.jsonl.gz", "rolling-update-lazy-podgroups.jsonl.gz", "rolling-update-surge.jsonl.gz")
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
LAG = 12
"""A controller acts on a cache that may be this many events old."""


def _within(part: Any, whole: Any) -> bool:
    """Everything in `part` is in `whole`, which the API server has filled with defaults."""
    if part == {} and whole is None:
        return True
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(_within(value, whole.get(key)) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(_within, part, whole))
    return bool(part == whole)


def _own(revisions: Mapping[str, Json]) -> list[Json]:
    return [one for one in revisions.values() if (names.controller_of(one) or {}).get("kind") == "LeaderWorkerSet"]


@pytest.mark.parametrize("trace", TRACES)
def test_the_first_revision_is_the_recorded_one(trace: str) -> None:
    """Name, labels, owner, content; not its hash: the traces shorten the image that went into it."""
    (lws,) = recorded(trace, "leaderworkersets").values()
    first = min(_own(recorded(trace, "controllerrevisions")), key=lambda one: int(one["revision"]))
    made = new_revision(lws, [])
    digest = names.labels(first)[names.REVISION]
    made["metadata"]["name"] = made["metadata"]["name"].replace(names.labels(made)[names.REVISION], digest)
    names.labels(made)[names.REVISION] = digest
    assert _within(made, first)


def test_the_hash_is_the_real_one() -> None:
    """FNV-1 of compact sorted JSON as Go writes it, in letters; pinned when it gave a recorded name."""
    assert content_hash({"b": "<&>", "a": 1}) == "775485b798"


@pytest.mark.parametrize("trace", TRACES)
def test_the_leader_set_is_the_recorded_one(trace: str) -> None:
    """Labels, annotations, owner, selector and template; this API server drops maxUnavailable."""
    (lws,) = recorded(trace, "leaderworkersets").values()
    there = recorded(trace, "statefulsets")[lws["metadata"]["name"]]
    replicas = lws["spec"]["replicas"]
    made = leader_set(lws, partition=0, replicas=replicas, revision=names.labels(there)[names.REVISION])
    del made["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"]
    assert _within(made, there)


@pytest.mark.parametrize("trace", TRACES)
def test_the_worker_sets_are_the_recorded_ones(trace: str) -> None:
    """For every group: made from its leader pod and the leader's revision."""
    (lws,) = recorded(trace, "leaderworkersets").values()
    pods, revisions = recorded(trace, "pods"), _own(recorded(trace, "controllerrevisions"))
    for name, there in recorded(trace, "statefulsets").items():
        if name == lws["metadata"]["name"]:
            continue
        digest = names.labels(pods[name])[names.REVISION]
        revision = next(one for one in revisions if names.labels(one)[names.REVISION] == digest)
        assert _within(worker_set(restored(lws, revision), pods[name]), there)


@pytest.mark.parametrize("trace", TRACES)
def test_pods_are_admitted_as_recorded(trace: str) -> None:
    """A pod as it came from its StatefulSet gets the labels and variables that the recorded one has."""
    added = (names.GROUP_INDEX, names.GROUP_KEY, names.SUBGROUP_INDEX, names.SUBGROUP_KEY)
    for pod in recorded(trace, "pods").values():
        bare = deepcopy(pod)
        leader = names.is_leader(pod)
        for label in added if leader else (*added[2:], names.WORKER_INDEX):
            names.labels(bare).pop(label, None)
        for container in bare["spec"]["containers"]:
            container.pop("env", None)
        admitted = admit_pod({"object": bare, "namespace": pod["metadata"]["namespace"]})
        assert admitted is not None
        assert admitted["metadata"]["labels"] == pod["metadata"]["labels"]
        assert admitted["spec"]["containers"] == pod["spec"]["containers"]


def test_a_group_index_that_is_there_stays() -> None:
    """Whatever it is, and whatever the pod is called; without one the name must end in a number."""
    leader = {"name": "demo-blue", "labels": {names.NAME: "demo", names.WORKER_INDEX: "0"}}
    pod = {"metadata": {**leader, "annotations": {names.SIZE: "2"}}, "spec": {"containers": []}}
    with pytest.raises(Denied, match="ordinal"):
        admit_pod({"object": pod, "namespace": "default"})
    pod["metadata"]["labels"][names.GROUP_INDEX] = "blue"
    admitted = admit_pod({"object": pod, "namespace": "default"})
    assert admitted is not None
    assert admitted["metadata"]["labels"][names.GROUP_INDEX] == "blue"


@pytest.mark.parametrize("trace", ROLLOUTS)
def test_every_recorded_rollout_step_is_ours(trace: str) -> None:
    """Each change of partition or replicas is what our arithmetic says of one of the worlds shortly before it."""
    said: list[set[tuple[int, int]]] = []
    steps = 0
    for event, world in states(trace):
        found = event["object"]
        lws = next(iter(world.get("leaderworkersets", {}).values()), None)
        if lws is None:
            continue
        before = world.get("statefulsets", {}).get(lws["metadata"]["name"])
        said = [*said, _steps(lws, before, world)][-LAG:]
        is_leaders = event["resource"] == "statefulsets" and found["metadata"]["name"] == lws["metadata"]["name"]
        if not is_leaders or event["type"] != "MODIFIED" or _step(found) == _step(before):
            continue
        steps += 1
        assert _step(found) in set().union(*said), f"at {event['t']}"
    assert steps > 3


def _step(there: Json | None) -> tuple[int, int]:
    assert there is not None
    return there["spec"]["updateStrategy"]["rollingUpdate"]["partition"], there["spec"]["replicas"]


def _steps(lws: Json, there: Json | None, world: dict[str, dict[str, Json]]) -> set[tuple[int, int]]:
    """What we would apply now, as an update that has just begun and as one under way."""
    if there is None:
        return {next_step(Budget.of(lws), None, [], changed=False)}
    partition, replicas = _step(there)
    now = Rollout(partition, replicas, int(names.annotations(there)[names.REPLICAS]))
    revision = names.labels(there)[names.REVISION]
    each = [_state(lws, index, revision, world) for index in range(replicas)]
    return {next_step(Budget.of(lws), now, each, changed=changed) for changed in (True, False)}


def _state(lws: Json, index: int, revision: str, world: dict[str, dict[str, Json]]) -> GroupState:
    name = f"{lws['metadata']['name']}-{index}"
    pod, workers = world.get("pods", {}).get(name), world.get("statefulsets", {}).get(name)
    if pod is None or workers is None:
        return GroupState()
    status = workers.get("status", {})
    complete = status.get("availableReplicas", 0) == workers["spec"]["replicas"]
    updated = all(names.labels(one).get(names.REVISION) == revision for one in (pod, workers))
    return GroupState(ready=names.running_and_ready(pod) and complete, updated=updated)


@given(
    replicas=st.integers(1, 12), unavailable=st.integers(0, 12), surge=st.integers(0, 12), partition=st.integers(0, 3)
)
def test_a_rolling_update_ends_and_keeps_its_budget(
    replicas: int, unavailable: int, surge: int, partition: int
) -> None:
    """Groups updated one step after the other: all at or above the partition are, and never too many are away."""
    unavailable = max(unavailable, 0 if surge else 1)
    budget = Budget(replicas, min(unavailable, replicas), min(surge, replicas), partition)
    if not budget.unavailable and not budget.surge:
        return
    groups = [GroupState(ready=True, updated=False)] * replicas
    now = Rollout(0, replicas, replicas)
    changed = True
    for _ in range(4 * (replicas + budget.surge) + 8):
        at, count = next_step(budget, now, groups, changed=changed)
        changed = False
        now = Rollout(at, count, replicas)
        groups = (groups + [GroupState()] * count)[:count]
        groups = [
            GroupState(ready=False, updated=True) if i >= at and not g.updated else g for i, g in enumerate(groups)
        ]
        assert sum(1 for group in groups if not group.ready) <= budget.unavailable + budget.surge + budget.surge
        groups = [GroupState(ready=True, updated=g.updated or not g.ready) for g in groups]
    assert all(group.updated for group in groups[partition:])
    assert partition or now == Rollout(0, replicas, replicas)


@pytest.mark.parametrize(
    ("value", "total", "up", "down"), [(2, 10, 2, 2), ("25%", 10, 3, 2), ("0%", 10, 0, 0), ("100%", 3, 3, 3)]
)
def test_percentages_round_up_or_down(value: int | str, total: int, up: int, down: int) -> None:
    """MaxSurge rounds up, maxUnavailable down."""
    assert (share(value, total, up=True), share(value, total, up=False)) == (up, down)


def test_a_condition_of_somebody_else_stays() -> None:
    """Status writes keep conditions that are not LeaderWorkerSet's."""
    lws = default_set({"object": leader_worker_set()})
    lws["metadata"] |= {"generation": 3}
    other = {"type": "example.com/Other", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "then"}
    lws["status"] = {"conditions": [other]}
    outcome = new_status(lws, 1, {0: GroupState(ready=True, updated=True)}, NOW)
    assert outcome.status["conditions"][0] == other
    assert [c["type"] for c in outcome.status["conditions"]] == ["example.com/Other", "Available"]
    assert outcome.finished


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, "size must be"),
        ({"subGroupPolicy": {"subGroupSize": 3}}, "divisible"),
        ({"subGroupPolicy": {"subGroupSize": 9}}, "between 1 and size"),
        ({"subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}}, "LeaderExcluded"),
    ],
)
def test_what_leader_worker_set_refuses_is_refused(change: dict[str, Any], message: str) -> None:
    """Groups whose size does not divide as asked for."""
    lws = default_set({"object": leader_worker_set(size=8)})
    lws["spec"]["leaderWorkerTemplate"] |= change
    with pytest.raises(Denied, match=message):
        validate_set({"object": lws})


@given(st.recursive(st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("ab/~"), inner), max_leaves=12).
       filter(lambda one: isinstance(one, dict)),
       st.recursive(st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("ab/~"), inner), max_leaves=12).
       filter(lambda one: isinstance(one, dict)))  # fmt: skip
def test_a_patch_leads_from_one_object_to_the_other(old: Json, new: Json) -> None:
    """Applied to the old object, the differences give the new one."""
    patched = deepcopy(old)
    for step in differences(old, new):
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        at = patched
        for part in way:
            at = at[part]
        if step["op"] == "remove":
            del at[last]
        else:
            at[last] = step["value"]
    assert patched == new
