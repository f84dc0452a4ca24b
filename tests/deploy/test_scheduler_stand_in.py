"""The scheduler stand-in's sessions: a small cluster in, decisions out.

Covers: gangs and their per-task minimum, releasing and gated pods, queues and what holds room in them, order, taints,
affinity, hard and soft topology, sub-groups, phases and conditions; that no node is ever overfilled.
Leaves out: effects (`tests/integration/test_stand_ins.py`).
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local.nodes import rack_nodes
from deploy.local.scheduler_stand_in.gang import starts
from deploy.local.scheduler_stand_in.model import Job, Snapshot, Task
from deploy.local.scheduler_stand_in.quantity import add, fits, pod_requests, resources
from deploy.local.scheduler_stand_in.session import Decisions, run_session

Json = dict[str, Any]
NOW = "2026-01-01T00:00:00Z"


def _nodes(count: int, **changes: Json) -> list[Json]:
    nodes = rack_nodes(count)
    for node in nodes:
        node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        node["spec"] |= changes.get(node["metadata"]["name"].replace("-", "_"), {})
    return nodes


def _pod(name: str, group: str = "g", *, task: str = "worker", node: str = "", gpus: int = 8, **more: Any) -> Json:
    meta = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "labels": more.pop("labels", {}),
        "annotations": {"scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": task, **more.pop("noted", {})},
    }
    if more.pop("releasing", False):
        meta["deletionTimestamp"] = NOW
    spec = {
        "schedulerName": "volcano",
        "containers": [{"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
        **({"nodeName": node} if node else {}),
        **more,
    }
    return {"metadata": meta, "spec": spec, "status": {"phase": "Running" if node else "Pending"}}


def _group(name: str = "g", minimum: int = 1, *, phase: str = "Inqueue", created: str = NOW, **spec: Any) -> Json:
    return {
        "metadata": {"name": name, "namespace": "ns", "creationTimestamp": created},
        "spec": {"minMember": minimum, "queue": "default", **spec},
        "status": {"phase": phase},
    }


def _gang(name: str, size: int, **more: Any) -> list[Json]:
    return [
        _pod(f"{name}-0", name, task="leader", **more),
        *(_pod(f"{name}-0-{i}", name, **more) for i in range(1, size)),
    ]


def _hyper(name: str, tier: int, nodes: Sequence[str] = (), children: Sequence[str] = ()) -> Json:
    members = [{"type": "Node", "selector": {"exactMatch": {"name": one}}} for one in nodes]
    members += [{"type": "HyperNode", "selector": {"exactMatch": {"name": one}}} for one in children]
    return {"metadata": {"name": name}, "spec": {"tier": tier, "members": members}}


def _tree(racks: int) -> list[Json]:
    leaves = [_hyper(f"rack-{r}", 1, [f"node-{4 * r + i:02}" for i in range(4)]) for r in range(racks)]
    return [*leaves, _hyper("spine", 2, children=[f"rack-{r}" for r in range(racks)])]


def _session(
    pods: list[Json],
    groups: list[Json],
    nodes: list[Json],
    *,
    queues: list[Json] | None = None,
    hyper_nodes: Sequence[Json] = (),
    priorities: Mapping[str, int] | None = None,
    seed: int = 1,
) -> Decisions:
    snapshot = Snapshot.of(
        pod_groups=groups,
        pods=pods,
        nodes=nodes,
        queues=queues or [{"metadata": {"name": "default"}}],
        hyper_nodes=hyper_nodes,
        priorities=priorities or {},
        scheduler="volcano",
    )
    return run_session(snapshot, random.Random(seed), NOW)


def _placed(decisions: Decisions) -> dict[str, str]:
    return {task.raw["metadata"]["name"]: node for task, node in decisions.bindings}


def _rack(node: str) -> int:
    return int(node.removeprefix("node-")) // 4


def test_a_gang_is_placed_whole_or_not_at_all() -> None:
    """Four pods on four nodes; with three nodes, none."""
    group = _group("g", 4, minTaskMember={"leader": 1, "worker": 3})
    assert len(_placed(_session(_gang("g", 4), [group], _nodes(4)))) == 4
    without = _session(_gang("g", 4), [group], _nodes(3))
    assert not without.bindings
    (condition,) = without.statuses["ns/g"]["conditions"]
    assert condition["message"] == (
        "4/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable"
    )


def test_the_task_minimum_holds_a_group_without_its_leader_back() -> None:
    """Three workers of three: the leader is missing, so nothing starts."""
    workers = _gang("g", 4)[1:]
    group = _group("g", 3, minTaskMember={"leader": 1, "worker": 2})
    assert not _session(workers, [group], _nodes(4)).bindings


def test_below_the_sum_the_task_minimum_is_off() -> None:
    """MinMember 2 under a sum of 4: two workers run without their leader."""
    workers = _gang("g", 3)[1:]
    group = _group("g", 2, minTaskMember={"leader": 1, "worker": 3})
    assert len(_session(workers, [group], _nodes(4)).bindings) == 2


def test_releasing_and_gated_pods_do_not_count() -> None:
    """A new leader waits while old workers are going, and beside workers behind a gate."""
    group = _group("g", 4)
    going = [_pod("g-0"), *(_pod(f"g-0-{i}", node=f"node-0{i}", releasing=True) for i in (1, 2, 3))]
    assert not _session(going, [group], _nodes(8)).bindings
    gated = [_pod("g-0"), *(_pod(f"g-0-{i}", schedulingGates=[{"name": "x"}]) for i in (1, 2, 3))]
    assert not _session(gated, [group], _nodes(8)).bindings
    assert len(_session(gated, [_group("g", 1)], _nodes(8)).bindings) == 1


def test_an_empty_group_with_resources_holds_room_in_its_queue() -> None:
    """A queue of 64 GPUs: an empty group that was let in holds 32, another of 64 has to wait, one of 32 does not."""
    queues = [{"metadata": {"name": "default"}, "spec": {"capability": {"nvidia.com/gpu": "64"}}}]
    empty = _group("empty", 4, minResources={"nvidia.com/gpu": "32"})
    large = _group("large", 8, phase="Pending", minResources={"nvidia.com/gpu": "64"})
    small = _group("small", 4, phase="Pending", minResources={"nvidia.com/gpu": "32"})
    statuses = _session([], [empty, large, small], _nodes(16), queues=queues).statuses
    assert "ns/large" not in statuses
    assert statuses["ns/small"]["phase"] == "Inqueue"


def test_resources_in_the_quota_form_hold_nothing_back() -> None:
    """`requests.*` names are no resources of a queue."""
    queues = [{"metadata": {"name": "default"}, "spec": {"capability": {"nvidia.com/gpu": "8"}}}]
    group = _group("g", 4, phase="Pending", minResources={"requests.nvidia.com/gpu": "32"})
    assert _session([], [group], _nodes(4), queues=queues).statuses["ns/g"]["phase"] == "Inqueue"


@pytest.mark.parametrize("queues", [[], [{"metadata": {"name": "default"}, "status": {"state": "Closed"}}]])
def test_a_queue_that_is_absent_or_closed_lets_nothing_in(queues: list[Json]) -> None:
    """The group stays Pending; without its queue it is not even looked at."""
    others = queues or [{"metadata": {"name": "other"}}]
    decisions = _session(_gang("g", 2), [_group("g", 2, phase="Pending")], _nodes(4), queues=others)
    assert not decisions.bindings
    assert [one["phase"] for one in decisions.statuses.values()] == ["Pending"] * len(queues)


def test_priority_goes_before_age() -> None:
    """Room for one of two groups: the one of the higher class has it though it is younger."""
    old = _group("old", 2, created="2025-01-01T00:00:00Z")
    new = _group("new", 2, created="2026-01-01T00:00:00Z", priorityClassName="high")
    pods = [*_gang("old", 2), *_gang("new", 2)]
    placed = _placed(_session(pods, [old, new], _nodes(2), priorities={"high": 10}))
    assert placed.keys() == {"new-0", "new-0-1"}


def test_tasks_go_by_task_priority_then_by_the_last_number() -> None:
    """The leader of group 7 comes after workers 1 to 3 by its number, and first by its priority."""
    pods = [_pod("g-7", task="leader"), *(_pod(f"g-7-{i}") for i in (10, 9, 2))]
    order = [t.raw["metadata"]["name"] for t, _ in _session(pods, [_group("g", 4)], _nodes(4)).bindings]
    assert order == ["g-7-2", "g-7", "g-7-9", "g-7-10"]
    pods[0]["metadata"]["annotations"]["volcano.sh/task-priority"] = "1"
    order = [t.raw["metadata"]["name"] for t, _ in _session(pods, [_group("g", 4)], _nodes(4)).bindings]
    assert order == ["g-7", "g-7-2", "g-7-9", "g-7-10"]


def test_cordons_taints_and_selectors_are_kept() -> None:
    """Of four nodes one is cordoned, one tainted, one of another rack."""
    taint = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}
    nodes = _nodes(5, node_00={"unschedulable": True}, node_01=taint)
    selector = {"example.com/rack": "rack-0"}
    pods = [_pod(f"g-{i}", nodeSelector=selector) for i in range(2)]
    assert set(_placed(_session(pods, [_group("g", 2)], nodes)).values()) == {"node-02", "node-03"}
    tolerant = [_pod("g-0", nodeSelector=selector, tolerations=[{"key": "gpu", "operator": "Exists"}])]
    (node,) = _placed(_session(tolerant, [_group("g", 1)], nodes)).values()
    assert node in {"node-01", "node-02", "node-03"}


def test_preferred_terms_choose_the_node() -> None:
    """The highest sum of weights wins among the nodes that fit."""
    terms = [
        {"weight": weight, "preference": {"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}]}}
        for weight, name in ((100, "node-00"), (60, "node-05"), (30, "node-02"))
    ]  # fmt: skip
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    pods = [_pod("g-0", affinity=affinity), _pod("g-1", affinity=affinity), _pod("other", node="node-00")]
    assert _placed(_session(pods, [_group("g", 2)], _nodes(8))) == {"g-0": "node-05", "g-1": "node-02"}


def test_exclusive_affinity_keeps_groups_apart_and_together() -> None:
    """Pods of one key share a rack that no pod of another key is in."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"

    def exclusive(key: str) -> Json:
        same = {"matchExpressions": [{"key": "k", "operator": "In", "values": [key]}]}
        other = {
            "matchExpressions": [{"key": "k", "operator": "Exists"}, {"key": "k", "operator": "NotIn", "values": [key]}]
        }
        rack = "example.com/rack"
        return {
            "podAffinity": {required: [{"labelSelector": same, "topologyKey": rack}]},
            "podAntiAffinity": {required: [{"labelSelector": other, "topologyKey": rack}]},
        }

    pods = [_pod(f"{key}-{i}", key, labels={"k": key}, affinity=exclusive(key)) for key in ("a", "b") for i in range(3)]
    placed = _placed(_session(pods, [_group("a", 3), _group("b", 3)], _nodes(8)))
    racks = {key: {_rack(node) for name, node in placed.items() if name.startswith(key)} for key in ("a", "b")}
    assert len(racks["a"]) == len(racks["b"]) == 1
    assert racks["a"] != racks["b"]


@pytest.mark.parametrize("seed", range(5))
def test_hard_topology_keeps_a_group_in_one_rack(seed: int) -> None:
    """Two of the three racks have a node taken; the third is chosen whatever the ties."""
    taken = [_pod("x-0", "x", node="node-00"), _pod("x-1", "x", node="node-05")]
    group = _group("g", 4, networkTopology={"mode": "hard", "highestTierAllowed": 1})
    placed = _placed(_session([*_gang("g", 4), *taken], [group], _nodes(12), hyper_nodes=_tree(3), seed=seed))
    assert {_rack(node) for node in placed.values()} == {2}


def test_hard_waits_and_soft_goes_further() -> None:
    """Five pods, four nodes a rack: hard tier 1 waits, hard tier 2 and soft take the spine."""
    for topology, count in (
        ({"mode": "hard", "highestTierAllowed": 1}, 0),
        ({"mode": "hard", "highestTierAllowed": 2}, 5),
        ({"mode": "soft", "highestTierAllowed": 1}, 5),
    ):
        group = _group("g", 5, networkTopology=topology)
        assert len(_session(_gang("g", 5), [group], _nodes(8), hyper_nodes=_tree(2)).bindings) == count


def test_hard_topology_means_nothing_without_hyper_nodes_and_everything_with_a_bad_tree() -> None:
    """No HyperNodes: ignored without a word. A HyperNode with two parents: nothing with a topology is placed."""
    group = _group("g", 5, networkTopology={"mode": "hard", "highestTierAllowed": 1})
    assert len(_session(_gang("g", 5), [group], _nodes(8)).bindings) == 5
    bad = [*_tree(2), _hyper("second", 2, children=["rack-0"])]
    assert not _session(
        _gang("g", 2), [group | {"spec": {**group["spec"], "minMember": 2}}], _nodes(8), hyper_nodes=bad
    ).bindings


def test_each_sub_group_has_a_rack_of_its_own() -> None:
    """Two sub-groups of four with a hard tier 1 each, in one spine."""
    key = "leaderworkerset.sigs.k8s.io/subgroup-index"
    policy = {
        "name": "sub", "matchLabelKeys": [key], "subGroupSize": 4, "minSubGroups": 2,
        "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    }  # fmt: skip
    pods = [_pod(f"g-0-{i}", labels={key: str(i // 4)}) for i in range(8)]
    group = _group("g", 8, subGroupPolicy=[policy], networkTopology={"mode": "hard", "highestTierAllowed": 2})
    placed = _placed(_session(pods, [group], _nodes(12), hyper_nodes=_tree(3)))
    racks = [{_rack(placed[f"g-0-{i}"]) for i in part} for part in (range(4), range(4, 8))]
    assert [len(rack) for rack in racks] == [1, 1]
    assert racks[0] != racks[1]


def test_a_sub_group_policy_without_keys_that_wants_one_never_starts() -> None:
    """MinSubGroups 1 and no matchLabelKeys."""
    group = _group("g", 2, subGroupPolicy=[{"name": "sub", "minSubGroups": 1}])
    assert not _session(_gang("g", 2), [group], _nodes(4)).bindings


def test_phases_follow_the_pods() -> None:
    """Running with its minimum, Unknown when it runs below it, Pending and Inqueue again without pods."""
    running = [_pod(f"g-0-{i}", node=f"node-0{i}") for i in range(2)]
    assert _session(running, [_group("g", 2)], _nodes(2)).statuses["ns/g"]["phase"] == "Running"
    broken = [running[0], _pod("g-0-1")]
    assert _session(broken, [_group("g", 2, phase="Running")], _nodes(1)).statuses["ns/g"]["phase"] == "Unknown"
    alone = [running[0]]
    assert _session(alone, [_group("g", 2, phase="Pending")], _nodes(1)).statuses["ns/g"]["phase"] == "Unknown"
    ending = [running[0], _pod("g-0-1", node="node-01", releasing=True)]
    assert _session(ending, [_group("g", 2, phase="Running")], _nodes(2)).statuses["ns/g"]["phase"] == "Running"
    assert _session([], [_group("g", 2, phase="Running")], _nodes(1)).statuses["ns/g"]["phase"] == "Pending"
    assert _session([], [_group("g", 2, phase="Pending")], _nodes(1)).statuses["ns/g"]["phase"] == "Inqueue"


def test_conditions_are_never_taken_back() -> None:
    """Unschedulable stays beside Scheduled."""
    group = _group("g", 2)
    group["status"]["conditions"] = [{"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources"}]
    conditions = _session(_gang("g", 2), [group], _nodes(2)).statuses["ns/g"]["conditions"]
    assert [one["type"] for one in conditions] == ["Unschedulable", "Scheduled"]


def test_a_pod_takes_its_peak() -> None:
    """Sidecars run beside the app, an ordinary init container beside the sidecars before it; limits stand in."""
    spec = {
        "containers": [{"resources": {"limits": {"cpu": "2"}}}],
        "initContainers": [
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
            {"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}},
        ],
    }
    assert pod_requests(spec) == resources({"cpu": "3500m", "memory": "1Gi", "pods": "1"})


@given(
    sizes=st.lists(st.tuples(st.integers(1, 6), st.sampled_from([1, 2, 4, 8])), min_size=1, max_size=6),
    nodes=st.integers(1, 8),
    hard=st.booleans(),
)
def test_no_node_is_overfilled_and_no_gang_is_split(sizes: list[tuple[int, int]], nodes: int, *, hard: bool) -> None:
    """Whatever is asked for."""
    topology = {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}} if hard else {}
    groups = [_group(f"g{i}", size, **topology) for i, (size, _) in enumerate(sizes)]
    pods = [pod for i, (size, gpus) in enumerate(sizes) for pod in _gang(f"g{i}", size, gpus=gpus)]
    raw = _nodes(nodes)
    decisions = _session(pods, groups, raw, hyper_nodes=_tree(2) if hard else ())
    for node in raw:
        here = add(task.request for task, name in decisions.bindings if name == node["metadata"]["name"])
        assert fits(here, resources(node["status"]["allocatable"]))
    for group in groups:
        placed = [
            t
            for t, _ in decisions.bindings
            if t.annotations["scheduling.k8s.io/group-name"] == group["metadata"]["name"]
        ]
        assert not placed or starts(Job(group), [Task(task.raw) for task in placed])
