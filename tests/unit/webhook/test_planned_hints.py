"""Hints from the planner at admission: the leader's plan, workers that follow it on any replica, and no plan at all.

Whole decisions: pods in, pods out. Left out: what a plan or an order looks like (tests/unit/placement), what the
scheduler makes of them.
"""

import copy
import json
from functools import partial

import jsonpatch
import pytest

from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.observe import metrics
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.decide import Situation, decide
from lws_volcano.webhook.planned_hints import PlannedHints
from tests.unit.placement.builders import GPU, capacity
from tests.unit.webhook.builders import HASH, leader, lws, worker

RACKS = {"s1": {"r1": {"n1": 8, "n2": 8, "n3": 8, "n4": 8}, "r2": {"n5": 8, "n6": 8, "n7": 8, "n8": 8}}}
HARD = {"volcano.sh/network-topology-mode": "hard", "volcano.sh/network-topology-highest-tier": "1"}
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def gpu_set(*, gpus=8, annotations=None, **spec):
    """A set whose pods take a whole node each."""
    raw = lws(annotations={**HARD, **(annotations or {})}, **spec).manifest()
    container = {"name": "c", "resources": {"limits": {GPU: str(gpus)}}}
    raw["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"] = [container]
    return LeaderWorkerSet.parse(raw)


class Replica:
    """One webhook replica: its capacity, its cache of pods, its hints."""

    def __init__(self, free=None, **settings):
        self.capacity = capacity(RACKS if free is None else free)
        self.cluster = Cluster()
        self.hints = PlannedHints(lambda: self.capacity, self.cluster, Settings(**settings))

    def knows(self, raw, node=""):
        """The watch has delivered this pod."""
        metadata = {**raw["metadata"], "namespace": "a", "uid": raw["metadata"]["name"]}
        pod = Pod.parse({"metadata": metadata, "spec": {**raw["spec"], "nodeName": node}})
        self.cluster.kinds.pods.store.upsert(pod, 1)
        self.capacity.bind(pod)

    def admit(self, raw, the_set=None, *, dry_run=False):
        """The pod as it leaves admission."""
        store = self.cluster.kinds.pods.store
        decision = decide(
            Situation(
                raw=raw,
                lws=the_set or gpu_set(),
                namespace=None,
                settings=Settings(),
                template=lambda _: None,
                pod_group=lambda _: None,
                pod=lambda name: store.get(f"a/{name}"),
                hints=self.hints,
                dry_run=dry_run,
            )
        )
        return jsonpatch.apply_patch(copy.deepcopy(raw), list(decision.patch))


def plan_of(pod):
    """The plan on a leader."""
    return json.loads(pod["metadata"]["annotations"]["lws-volcano.io/plan"])


def top_nodes(pod):
    """Nodes with the highest weight."""
    terms = pod["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    best = max(terms, key=lambda term: term["weight"])
    return best["preference"]["matchExpressions"][0]["values"]


def member(make, index=0):
    """A pod that asks for a whole node."""
    raw = make(seen_by_lws=True, **({"index": index} if index else {}))
    raw["spec"]["containers"] = [{"name": "c", "resources": {"requests": {GPU: "8"}, "limits": {GPU: "8"}}}]
    return raw


def outcome(name):
    """Hints counted under this outcome."""
    return metrics.REGISTRY.get_sample_value("lws_volcano_webhook_hints_total", {"outcome": name}) or 0


def test_leader_carries_the_plan_and_goes_first():
    """Planned in one rack, ranks next to each other; the plan holds its place; the leader is allocated first."""
    replica = Replica()
    pod = replica.admit(member(leader))
    plan = plan_of(pod)
    assert plan["feasible"]
    assert len({entry["path"][-1] for entry in plan["pods"]}) == 1
    assert replica.capacity.reserved(f"a/demo-0-{HASH}")
    assert pod["metadata"]["annotations"]["volcano.sh/task-priority"] == "1"


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_worker_follows_its_leaders_plan_on_any_replica(rank):
    """Another replica, whose capacity differs, gives the worker the node that the leader's plan has for its rank."""
    admitted = Replica().admit(member(leader))
    other = Replica({"s1": {"r1": {"n1": 8, "n2": 0, "n3": 8, "n4": 8}, "r2": {"n5": 8, "n6": 8, "n7": 8, "n8": 8}}})
    other.knows(admitted)
    before = outcome("followed")
    pod = other.admit(member(worker, rank))
    assert plan_of(admitted)["pods"][rank]["node"] in top_nodes(pod)
    assert REQUIRED not in pod["spec"]["affinity"]["nodeAffinity"]
    assert outcome("followed") == before + 1


def test_second_group_is_planned_beside_the_first():
    """The first group holds its rack while it waits: the second goes to the other."""
    replica = Replica()
    racks = []
    for group in ("0", "1"):
        raw = leader(seen_by_lws=True, group=group)
        racks.append(plan_of(replica.admit(raw))["domain"]["name"])
    assert sorted(racks) == ["r1", "r2"]


def test_dry_run_holds_nothing():
    """A request of which nothing comes takes no place from anybody."""
    replica = Replica()
    replica.admit(member(leader), dry_run=True)
    assert replica.capacity.reservations() == ()


def held_to(pod):
    """Nodes of the required term."""
    (term,) = pod["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    return set(term["matchExpressions"][0]["values"])


def test_a_leader_that_comes_first_has_every_domain_with_room_while_its_group_waits_alone():
    """With others on the way each keeps to its own: two leaders in one rack leave the workers of neither enough."""
    one, two = (gpu_set(replicas=replicas, startupPolicy="LeaderReady") for replicas in (1, 2))
    every = {name for rack in RACKS["s1"].values() for name in rack}
    assert held_to(Replica().admit(member(leader), one)) == every
    replica = Replica()
    first = replica.admit(member(leader), two)
    second = replica.admit(member(partial(leader, group="1")), two)
    assert held_to(first) | held_to(second) == every
    assert not held_to(first) & held_to(second)


def test_unknown_leader_leaves_the_order():
    """A worker whose leader the cache has not seen gets the order alone, which is the same on every replica."""
    before = outcome("order")
    pod = Replica().admit(member(worker, 2))
    assert pod["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    assert outcome("order") == before + 1


def test_leader_of_another_revision_is_not_followed():
    """A leader that is on its way out, or of the former revision, is no guide."""
    replica = Replica()
    old = replica.admit(member(leader))
    old["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "demo-0-old"
    replica.knows(old)
    before = outcome("order")
    replica.admit(member(worker, 1))
    assert outcome("order") == before + 1


def test_lost_member_comes_back_to_its_group():
    """One worker of a running group is made anew: its best node is the free one in the rack of the others."""
    replica = Replica({"s1": {"r1": {"n1": 8, "n2": 8, "n3": 8}, "r2": {"n5": 8, "n6": 8, "n7": 8, "n8": 8}}})
    admitted = replica.admit(member(leader), gpu_set(size=3))
    replica.knows(admitted, "n5")
    first = replica.admit(member(worker, 1), gpu_set(size=3))
    replica.knows(first, "n6")
    pod = replica.admit(member(worker, 2), gpu_set(size=3))
    (best,) = top_nodes(pod)
    assert best in {"n7", "n8"}


def test_full_cluster_still_admits():
    """No room anywhere: the pod comes in with the order and a plan that says why, never refused."""
    none = {"s1": {"r1": {"n1": 0, "n2": 0}, "r2": {"n3": 0, "n4": 0}}}
    pod = Replica(none).admit(member(leader))
    assert plan_of(pod)["feasible"] is False
    assert plan_of(pod)["pods"] == []
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"]


def test_placement_none_adds_nothing():
    """The binding alone, as if there were no planner."""
    pod = Replica().admit(member(leader), gpu_set(annotations={"lws-volcano.io/placement": "none"}))
    assert "affinity" not in pod["spec"]
    assert "lws-volcano.io/plan" not in pod["metadata"]["annotations"]


@pytest.mark.parametrize("all_nodes", [False, True])
def test_a_large_cluster_needs_a_scheduler_that_looks_at_all_nodes(all_nodes):
    """Without network topology: no preferences there, on no pod, unless the settings say so."""
    free = {"s1": {f"r{r}": {f"r{r}n{n}": 8 for n in range(30)} for r in range(8)}}
    replica = Replica(free, scheduler_looks_at_all_nodes=all_nodes)
    raw = gpu_set().manifest()
    raw["metadata"]["annotations"] = {"lws-volcano.io/gang": "true"}
    the_set = LeaderWorkerSet.parse(raw)
    unknown = replica.admit(member(worker, 2), the_set)
    first = replica.admit(member(leader), the_set)
    replica.knows(first)
    for pod in (unknown, first, replica.admit(member(worker, 1), the_set)):
        assert ("affinity" in pod["spec"]) == all_nodes
    assert plan_of(first)["feasible"]


def test_required_keeps_every_pod_to_the_domain():
    """One required term, the same on leader and worker: the nodes of the planned domain."""
    replica = Replica()
    the_set = gpu_set(annotations={"lws-volcano.io/placement": "required"})
    first = replica.admit(member(leader), the_set)
    replica.knows(first)
    second = replica.admit(member(worker, 1), the_set)
    terms = [pod["spec"]["affinity"]["nodeAffinity"][REQUIRED] for pod in (first, second)]
    assert terms[0] == terms[1]
    assert len(terms[0]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"]) == 4


def test_broken_plan_costs_the_hint_only():
    """An annotation that is no plan: counted, the pod is bound without hints."""
    replica = Replica()
    admitted = replica.admit(member(leader))
    admitted["metadata"]["annotations"]["lws-volcano.io/plan"] = "{}"
    replica.knows(admitted)
    before = outcome("failed")
    pod = replica.admit(member(worker, 1))
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
    assert "affinity" not in pod["spec"]
    assert outcome("failed") == before + 1


def test_without_capacity_there_are_no_hints():
    """Caches not filled yet: bound, nothing else."""
    replica = Replica()
    replica.capacity = None
    assert "affinity" not in replica.admit(member(leader))["spec"]
