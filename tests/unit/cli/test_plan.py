"""`lws-volcano plan` from the outside: documents in, JSON out (CONTRACTS section 4).

Covers the format, exit codes, order of planning, independence of the order of the input, and inputs of every sort.
Left out: how good a placement is (tests/unit/placement) and what a PodGroup says (tests/unit/mapping).
"""

import json
import random

import pytest
import yaml

from lws_volcano.cli.main import main

GPU = "nvidia.com/gpu"


def node(name, *, free="8", rack=None, **status):
    """A node of eight GPUs."""
    labels = {"kubernetes.io/hostname": name, **({"example.com/rack": rack} if rack else {})}
    allocatable = {"cpu": "64", "memory": "1Ti", GPU: free, "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable, **status},
    }


def template(gpus, *, priority=None, scheduler="volcano"):
    """A pod template that asks for GPUs as limits."""
    spec = {"schedulerName": scheduler, "containers": [{"name": "c", "resources": {"limits": {GPU: gpus}}}]}
    return {"spec": {**spec, **({"priorityClassName": priority} if priority else {})}}


def lws(name, *, replicas=1, size=2, gpus="8", priority=None, annotations=None, **more):
    """An opted-in LeaderWorkerSet."""
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "annotations": {"lws-volcano.io/gang": "true", **(annotations or {})}},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": template(gpus, priority=priority), **more},
        },
    }


def topology(racks=2, per_rack=4):
    """Racks under one spine, nodes n0, n1, ..."""
    domains = [{"name": "spine", "tier": "spine"}]
    for rack in range(racks):
        nodes = [f"n{rack * per_rack + at}" for at in range(per_rack)]
        domains.append({"name": f"rack-{rack}", "tier": "rack", "parent": "spine", "nodes": nodes})
    tiers = [{"name": "rack", "bandwidth": "50GB/s"}, {"name": "spine", "bandwidth": "25GB/s"}]
    return {
        "apiVersion": "lws-volcano.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": "dc"},
        "spec": {"tiers": tiers, "domains": domains},
    }


@pytest.fixture
def plan(tmp_path, capsys):
    """Run `plan -o json` on documents; gives exit code, plan and standard error."""

    def run(documents, *more):
        file = tmp_path / "in.yaml"
        file.write_text(yaml.safe_dump_all(documents))
        code = main(["plan", "-f", str(file), "-o", "json", *more])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    return run


def nodes_of(group):
    """Node names by rank."""
    return [pod["node"] for pod in group["pods"]]


def test_format_of_a_plan(plan):
    """Every field of the contract, for a group in one rack."""
    code, found, _ = plan([topology(), *(node(f"n{at}") for at in range(8)), lws("demo")])
    assert code == 0
    assert (found["apiVersion"], found["kind"]) == ("lws-volcano.io/v1alpha1", "Plan")
    (group,) = found["groups"]
    name = group["podGroup"]
    assert name.startswith("demo-0-")
    assert group | {"alternatives": None} == {
        "namespace": "default",
        "lws": "demo",
        "group": "0",
        "podGroup": name,
        "feasible": True,
        "reason": "",
        "domain": {"name": "rack-0", "tier": 1, "tierName": "rack"},
        "pods": [
            {"role": "leader", "workerIndex": 0, "node": "n0", "path": ["spine", "rack-0"]},
            {"role": "worker", "workerIndex": 1, "node": "n1", "path": ["spine", "rack-0"]},
        ],
        "quality": {"highestTier": 1, "domains": {"rack": 1, "spine": 1}, "ringCost": 0.04},
        "alternatives": None,
    }
    assert group["alternatives"] == [
        {"domain": "rack-0", "nodes": ["n0", "n1"]},
        {"domain": "rack-1", "nodes": ["n4", "n5"]},
    ]
    assert [one["metadata"]["name"] for one in found["podGroups"]] == [name]
    assert len(found["hyperNodes"]) == 3


def test_a_group_that_does_not_fit_has_no_pods_and_a_reason(plan):
    """Never half a group; exit code 1."""
    code, found, _ = plan([node("n0"), node("n1"), lws("demo", size=3)])
    (group,) = found["groups"]
    assert code == 1
    assert (group["feasible"], group["pods"], group["quality"]) == (False, [], None)
    assert GPU in group["reason"]


def test_priority_comes_before_the_order_of_the_files(plan):
    """The leader's class decides who gets the last nodes, and the groups are listed in that order."""
    classes = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    _, found, _ = plan([node("n0"), node("n1"), lws("low"), lws("late", priority="high"), classes])
    assert [(group["lws"], group["feasible"]) for group in found["groups"]] == [("late", True), ("low", False)]


def test_each_group_sees_what_the_earlier_ones_took(plan):
    """Two groups, two racks of two nodes: both fit and no node is used twice."""
    documents = [topology(2, 2), *(node(f"n{at}") for at in range(4)), lws("demo", replicas=2)]
    _, found, _ = plan(documents)
    used = [name for group in found["groups"] for name in nodes_of(group)]
    assert sorted(used) == ["n0", "n1", "n2", "n3"]


def member(rank, where, pod_group="demo-0-abc"):
    """A pod of group 0 of the set `demo` that runs on a node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"demo-0-{rank}" if rank else "demo-0",
            "namespace": "default",
            "labels": {
                "leaderworkerset.sigs.k8s.io/name": "demo",
                "leaderworkerset.sigs.k8s.io/group-index": "0",
                "leaderworkerset.sigs.k8s.io/worker-index": str(rank),
                "leaderworkerset.sigs.k8s.io/template-revision-hash": "abc",
            },
            "annotations": {"scheduling.k8s.io/group-name": pod_group} if pod_group else {},
        },
        "spec": {**template("8")["spec"], "nodeName": where},
        "status": {"phase": "Running"},
    }


def test_bound_members_keep_their_node(plan):
    """A pod of the input that has a node stays there and is marked."""
    leader = member(0, "n5")
    _, found, _ = plan([topology(), *(node(f"n{at}") for at in range(8)), lws("demo"), leader])
    (group,) = found["groups"]
    assert group["podGroup"] == "demo-0-abc"
    assert group["pods"][0] == {
        "role": "leader", "workerIndex": 0, "node": "n5", "path": ["spine", "rack-1"], "bound": True,
    }  # fmt: skip
    assert group["domain"]["name"] == "rack-1"
    assert "bound" not in group["pods"][1]


@pytest.mark.parametrize("seed", range(5))
def test_order_of_nodes_and_pods_does_not_matter(plan, seed):
    """Byte for byte the same output."""
    busy = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "busy", "namespace": "default"},
        "spec": {**template("4")["spec"], "nodeName": "n2"},
    }
    cluster = [*(node(f"n{at}") for at in range(8)), busy, {**busy, "metadata": {"name": "busy-2", "namespace": "x"}}]
    work = [topology(), lws("one", replicas=2), lws("two", gpus="4")]
    expected = plan([*cluster, *work])
    shuffled = cluster[:]
    random.Random(seed).shuffle(shuffled)
    assert plan([*shuffled, *work]) == expected


@pytest.mark.parametrize(
    ("status", "spec"),
    [
        ({"conditions": [{"type": "Ready", "status": "False"}]}, {}),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, {}),
        ({}, {"unschedulable": True}),
        ({}, {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}),
    ],
)
def test_nodes_that_a_scheduler_would_leave_out(plan, status, spec):
    """NotReady, unknown, cordoned, tainted."""
    out = {**node("n1", **status), "spec": spec}
    code, found, _ = plan([node("n0"), out, lws("demo")])
    assert (code, found["groups"][0]["feasible"]) == (1, False)


def test_leader_and_worker_are_looked_at_together(plan):
    """Report R01: only one split fits; and a variant in which none does though the sum would."""

    def cpus(*free):
        names = [f"n{at + 1}" for at in range(len(free))]
        nodes = [
            {**node(name), "status": {"allocatable": {"cpu": str(cpu), "pods": "9"}}}
            for name, cpu in zip(names, free, strict=True)
        ]
        rack = topology(1, 1)
        rack["spec"]["domains"][1]["nodes"] = names
        leader = {
            "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
        }
        worker = {
            "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}
        }
        demo = lws("demo", size=5)
        demo["spec"]["leaderWorkerTemplate"] |= {"leaderTemplate": leader, "workerTemplate": worker}
        return [rack, *nodes, demo]

    code, found, _ = plan(cpus(2, 4, 3))
    (group,) = found["groups"]
    assert code == 0
    assert sorted(nodes_of(group)) == ["n1", "n2", "n2", "n3", "n3"]
    assert nodes_of(group)[0] == "n3"
    (pod_group,) = found["podGroups"]
    assert pod_group["spec"]["minResources"] == {"cpu": "9"}
    code, found, _ = plan(cpus(3, 3, 3))
    assert code == 1
    assert "3 of 4 workers" in found["groups"][0]["reason"]


def test_hard_never_spans_what_it_may_not(plan):
    """A tier name is resolved; with the rack too small the answer is no, softly it is the spine."""
    cluster = [topology(2, 2), *(node(f"n{at}") for at in range(4))]
    hard = {"volcano.sh/network-topology-mode": "hard", "volcano.sh/network-topology-highest-tier": "rack"}
    code, found, _ = plan([*cluster, lws("demo", size=3, annotations=hard)])
    assert (code, found["groups"][0]["feasible"]) == (1, False)
    assert found["podGroups"][0]["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}
    code, found, _ = plan([*cluster, lws("demo", size=3)])
    assert (code, found["groups"][0]["domain"]["name"]) == (0, "spine")


def test_without_a_topology_every_node_is_its_own_domain(plan):
    """Fits, and nothing is said of distance."""
    _, found, _ = plan([node("n0"), node("n1"), lws("demo")])
    (group,) = found["groups"]
    assert (group["feasible"], group["domain"], group["quality"]["highestTier"]) == (True, None, None)
    assert [pod["path"] for pod in group["pods"]] == [[], []]


def test_without_nodes_the_topology_is_taken_as_free(plan):
    """And the plan says so; without both, nothing is claimed."""
    code, found, _ = plan([topology(), lws("demo")])
    assert (code, nodes_of(found["groups"][0])) == (0, ["n0", "n1"])
    assert any("taken as free" in warning for warning in found["warnings"])
    code, found, _ = plan([lws("demo")])
    assert (code, found["groups"][0]["feasible"], len(found["podGroups"])) == (0, None, 1)


def test_hyper_nodes_as_input_are_read_and_not_written(plan):
    """What is there already serves as the topology."""
    members = [{"type": "Node", "selector": {"exactMatch": {"name": f"n{at}"}}} for at in range(2)]
    hyper_node = {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": "rack-a"},
        "spec": {"tier": 1, "tierName": "rack", "members": members},
    }
    _, found, _ = plan([hyper_node, node("n0"), node("n1"), lws("demo")])
    assert found["groups"][0]["domain"]["name"] == "rack-a"
    assert found["hyperNodes"] == []


def test_the_sets_of_a_disaggregated_set_are_planned(plan):
    """One LWS a role; the opt-in stands in the role's metadata."""
    role = {"metadata": {"annotations": {"lws-volcano.io/gang": "true"}}, "spec": lws("x")["spec"]}
    parent = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "serve"},
        "spec": {"roles": [{"name": "prefill", **role}, {"name": "decode", **role}]},
    }
    _, found, _ = plan([parent, *(node(f"n{at}") for at in range(4))])
    assert [group["lws"].rsplit("-", 1)[1] for group in found["groups"]] == ["prefill", "decode"]
    assert len(found["podGroups"]) == 2


def test_not_opted_in_is_said(plan):
    """Nothing is planned, and the key to set is named."""
    quiet = lws("quiet")
    quiet["metadata"]["annotations"] = {}
    code, found, _ = plan([quiet, node("n0")])
    assert (code, found["groups"], found["podGroups"]) == (0, [], [])
    assert "lws-volcano.io/gang" in found["warnings"][0]


def test_a_bad_opt_in_is_said_once(plan):
    """What is allowed, not in addition that nobody asked."""
    _, found, _ = plan([lws("odd", annotations={"lws-volcano.io/gang": "yep"}), node("n0")])
    (said,) = found["warnings"]
    assert "'yep'" in said


def test_pods_that_run_outside_their_pod_group_are_named(plan):
    """Their group gets no PodGroup any more, and the plan says why and how to mend it."""
    outside = [member(0, "n0", ""), member(1, "n1", "")]
    _, found, _ = plan([lws("demo"), node("n0"), node("n1"), *outside])
    assert found["podGroups"] == []
    assert found["warnings"] == []
    (group,) = found["groups"]
    assert group["feasible"] is None
    assert group["reason"].startswith("group 0: demo-0, demo-0-1 ")
    assert "restart the group" in group["reason"]


@pytest.mark.parametrize("output", ["table", "yaml"])
def test_every_output_says_why_a_group_gets_no_pod_group(tmp_path, capsys, output):
    """Below the table, in a comment of the YAML; a group that runs is no failure."""
    file = tmp_path / "in.yaml"
    file.write_text(yaml.safe_dump_all([lws("demo"), node("n0"), node("n1"), member(0, "n0", ""), member(1, "n1", "")]))
    assert main(["plan", "-f", str(file), "-o", output]) == 0
    out = capsys.readouterr().out
    assert out.count("restart the group") == 1
    assert output != "yaml" or list(yaml.safe_load_all(out)) == []


def test_what_cannot_be_a_gang_is_refused(plan):
    """Leader and workers with different schedulers: no PodGroup, exit code 1, one line on stderr."""
    mixed = lws("mixed", leaderTemplate=template("8", scheduler="default-scheduler"))
    code, found, err = plan([mixed, node("n0"), node("n1")])
    assert (code, found["podGroups"]) == (1, [])
    assert "default-scheduler" in err


def test_timings_only_when_asked_for(plan):
    """They are the one part that differs from run to run."""
    documents = [node("n0"), node("n1"), lws("demo")]
    assert "timings" not in plan(documents)[1]
    assert set(plan(documents, "--timings")[1]["timings"]) == {"readSeconds", "planSeconds"}


@pytest.mark.parametrize("output", ["table", "yaml", "svg"])
def test_other_outputs(tmp_path, capsys, output):
    """Each says where the group goes, or what would be applied."""
    file = tmp_path / "in.yaml"
    file.write_text(yaml.safe_dump_all([topology(), *(node(f"n{at}") for at in range(8)), lws("demo")]))
    assert main(["plan", "-f", str(file), "-o", output]) == 0
    out = capsys.readouterr().out
    if output == "table":
        assert "rack-0" in out
        assert "n0 n1" in out
    elif output == "yaml":
        assert [one["kind"] for one in yaml.safe_load_all(out)] == ["HyperNode"] * 3 + ["PodGroup"]
    else:
        assert out.startswith("<svg")
        assert "demo-0" in out


def test_a_picture_says_one_reason_once(tmp_path, capsys):
    """Many groups that find no room do not make it taller than the cluster."""
    file = tmp_path / "in.yaml"
    file.write_text(yaml.safe_dump_all([topology(), *(node(f"n{at}") for at in range(8)), lws("demo", replicas=60)]))
    main(["plan", "-f", str(file), "-o", "svg"])
    assert capsys.readouterr().out.count("56 groups, demo-4 to demo-59: ") == 1


def test_explain_names_the_domain_and_the_others(tmp_path, capsys):
    """Why this rack; an unknown group is wrong usage that lists the groups."""
    file = tmp_path / "in.yaml"
    file.write_text(yaml.safe_dump_all([topology(), *(node(f"n{at}") for at in range(8)), lws("demo", replicas=2)]))
    assert main(["plan", "-f", str(file), "--explain", "demo-1"]) == 0
    out = capsys.readouterr().out
    assert "rack-0" in out
    assert "rack-1" in out
    assert main(["plan", "-f", str(file), "--explain", "nope"]) == 2
    assert "demo-0" in capsys.readouterr().err


def test_nothing_to_plan_is_wrong_usage(capsys):
    """Neither file nor cluster."""
    assert main(["plan"]) == 2
    assert "-f FILE" in capsys.readouterr().err


def test_a_bad_quantity_names_the_node(plan):
    """No traceback."""
    bad = node("n0")
    bad["status"]["allocatable"]["cpu"] = "lots"
    code, found, err = plan([bad, lws("demo")])
    assert (code, found) == (1, None)
    assert "Node n0" in err
    assert "lots" in err
