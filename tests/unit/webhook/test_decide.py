"""The decision on one pod: binding, gate, hints, and nothing at all; before and after LWS's own webhook; twice.

The rules themselves (opt-in, names, gate) are tested in tests/unit/mapping; here is what becomes of the pod.
"""

import copy

import jsonpatch
import pytest

from lws_volcano.api.cluster import Namespace
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.placement.hints import PodHints
from lws_volcano.webhook.decide import Outcome, Situation, decide
from lws_volcano.webhook.hints import NoHints
from tests.unit.webhook import builders
from tests.unit.webhook.builders import HASH, leader, lws, pod_group, worker

GROUP = "scheduling.k8s.io/group-name"
TASK = "volcano.sh/task-spec"
TERM = {"weight": 100, "preference": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["n1"]}]}}


class Recorded:
    """A hint source that gives one term, and the plan to leaders; remembers who asked."""

    def __init__(self):
        self.asked = []

    def for_member(self, member):
        """A term for everyone."""
        self.asked.append(member)
        plan = {} if member.worker_index else {"lws-volcano.io/plan": "{}"}
        return PodHints(preferred=(TERM,), annotations=plan)


def situation(pod, the_lws=None, *, namespace=None, settings=None, group=None, pods=(), hints=None, template=None):
    """A situation in which everything but the pod has its usual value."""
    return Situation(
        raw=pod,
        lws=the_lws or lws(),
        namespace=namespace,
        settings=settings or Settings(),
        template=lambda _: template,
        pod_group=lambda name: group if group and group.name == name else None,
        pod=lambda name: next((found for found in pods if found.name == name), None),
        hints=hints or NoHints(),
    )


def admitted(pod, *args, **kwargs):
    """The outcome and the pod as it is after the patch."""
    decision = decide(situation(pod, *args, **kwargs))
    return decision.outcome, jsonpatch.apply_patch(copy.deepcopy(pod), list(decision.patch))


@pytest.mark.parametrize("seen_by_lws", [False, True])
@pytest.mark.parametrize(
    ("make", "options", "name", "task"),
    [
        (leader, {"group": "3"}, f"demo-3-{HASH}", "leader"),
        (worker, {"group": "3", "index": 2}, f"demo-3-{HASH}", "worker"),
        (worker, {"group": "11", "index": 10}, f"demo-11-{HASH}", "worker"),
    ],
)
def test_pods_are_bound(make, options, name, task, seen_by_lws):
    """Group and task are there at creation, whichever of the two webhooks comes first."""
    outcome, pod = admitted(make(seen_by_lws=seen_by_lws, **options))
    assert outcome is Outcome.BOUND
    assert (pod["metadata"]["annotations"][GROUP], pod["metadata"]["annotations"][TASK]) == (name, task)
    assert "schedulingGates" not in pod["spec"]


@pytest.mark.parametrize("make", [leader, worker])
def test_second_call_adds_nothing(make):
    """Reinvoked with its own result, also with LWS's labels put in between, the patch is empty."""
    hints = Recorded()
    _, pod = admitted(make(), hints=hints)
    pod["metadata"]["labels"] |= make(seen_by_lws=True)["metadata"]["labels"]
    assert decide(situation(pod, hints=hints)).patch == ()
    assert len(hints.asked) == 1


@pytest.mark.parametrize(
    ("pod", "the_lws"),
    [
        (leader(), lws(gang=None)),
        (leader(), lws(gang="false")),
        (leader(), lws(gang="yes")),
        (leader(scheduler="default-scheduler"), lws()),
        (leader(), lws(scheduler="default-scheduler")),
        (leader(), lws(scheduling={"gang": {}})),
        (leader(annotations={GROUP: "mine"}), lws(template={"annotations": {GROUP: "mine"}})),
        (leader(annotations={GROUP: "of-somebody"}), lws()),
    ],
)
def test_others_are_left_alone(pod, the_lws):
    """Not opted in, another scheduler, somebody else's gang: not a byte changes."""
    outcome, after = admitted(pod, the_lws)
    assert outcome is Outcome.LEFT_ALONE
    assert after == pod


def test_opt_in_from_namespace_and_configuration():
    """The opt-in may stand on the namespace or in the configuration; the LWS has the last word."""
    namespace = Namespace.parse({"metadata": {"name": "a", "annotations": {"lws-volcano.io/gang": "true"}}})
    everywhere = Settings(gang_by_default=True)
    assert admitted(leader(), lws(gang=None), namespace=namespace)[0] is Outcome.BOUND
    assert admitted(leader(), lws(gang=None), settings=everywhere)[0] is Outcome.BOUND
    assert admitted(leader(), lws(gang="false"), settings=everywhere, namespace=namespace)[0] is Outcome.LEFT_ALONE


def test_own_task_name_stays():
    """The user's task name is kept; only the group is added."""
    _, pod = admitted(worker(annotations={TASK: "decoder"}))
    assert pod["metadata"]["annotations"][TASK] == "decoder"
    assert pod["metadata"]["annotations"][GROUP]


@pytest.mark.parametrize(
    ("group", "gated"),
    [
        (None, True),
        (pod_group(size=1), True),
        (pod_group(size=4, workers=3), False),
        (pod_group(size=4, workers=3, owner="somebody"), True),
        (pod_group(size=4, workers=3, deletionTimestamp="2030-01-01T00:00:00Z"), True),
    ],
)
def test_worker_of_a_leader_first_group_waits_for_the_minimum(group, gated):
    """Gated until its PodGroup asks for the whole group: absent, the leader's only, a stranger's, an ending one."""
    outcome, pod = admitted(worker(), lws(startupPolicy="LeaderReady"), group=group)
    assert (outcome is Outcome.GATED) is gated
    assert ({"name": "lws-volcano.io/minimum"} in pod["spec"].get("schedulingGates", [])) is gated
    assert pod["metadata"]["annotations"][GROUP] == f"demo-0-{HASH}"


def test_leader_of_a_leader_first_group_is_not_gated():
    """The leader is the first to start: it has nothing to wait for."""
    outcome, _ = admitted(leader(), lws(startupPolicy="LeaderReady"))
    assert outcome is Outcome.BOUND


def test_hints_are_added_with_the_binding():
    """Terms and the plan's annotation; a worker's source is told of the leader pod that carries the plan."""
    hints = Recorded()
    plan_bearer = Pod.parse({"metadata": {"name": "demo-0", "annotations": {"lws-volcano.io/plan": "{}"}}})
    _, first = admitted(leader(), hints=hints)
    _, second = admitted(worker(index=2), hints=hints, pods=[plan_bearer])
    for pod in (first, second):
        (term,) = pod["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        assert term == TERM
    assert first["metadata"]["annotations"]["lws-volcano.io/plan"] == "{}"
    asked = [(member.group_index, member.worker_index, member.pod_group, member.leader) for member in hints.asked]
    assert asked == [("0", 0, f"demo-0-{HASH}", None), ("0", 2, f"demo-0-{HASH}", plan_bearer)]


def test_pods_left_alone_get_no_hints():
    """Nothing of ours on a pod that is not in a gang of ours."""
    hints = Recorded()
    admitted(leader(), lws(gang=None), hints=hints)
    assert hints.asked == []


def test_template_of_the_pods_own_revision_decides():
    """During a rollout the pod's revision says whether it is in, not the live spec."""
    opted_in = lws(gang=None, template={"annotations": {"lws-volcano.io/gang": "true"}})
    old = opted_in.spec.leader_worker_template
    assert admitted(leader(), lws(gang=None), template=old)[0] is Outcome.BOUND


def test_a_pod_without_a_revision_is_left_alone():
    """Labels that say too little: left alone, said why."""
    pod = leader()
    del pod["metadata"]["labels"][builders.LWS + "template-revision-hash"]
    decision = decide(situation(pod))
    assert decision.outcome is Outcome.LEFT_ALONE
    assert "labels" in decision.why
