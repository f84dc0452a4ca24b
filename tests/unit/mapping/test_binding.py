"""What the webhook is told about a pod: annotations, gate, or why it is left alone. Left out: the patch (`webhook`)."""

import pytest

from lws_volcano.api import names
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.binding import bind, pod_group_of
from tests.unit.mapping.builders import (
    HASH,
    OPTED_IN,
    at,
    group_template,
    lws,
    namespace,
    parsed,
    pod,
    pod_group,
    template,
)

NAME = f"demo-0-{HASH}"
FULL = {"minMember": 4, "minTaskMember": {"leader": 1, "worker": 3}}


def fresh(rank=0, **more):
    """A pod as it is sent, before any webhook."""
    raw = pod("0", rank, joined=False, **more).manifest()
    labels = raw["metadata"]["labels"]
    labels[names.POD_INDEX] = str(rank) if rank else labels[names.GROUP_INDEX]
    del labels[names.WORKER_INDEX if rank else names.GROUP_INDEX]
    return Pod.parse(raw)


def answer(one, owner=None, within=None, **more):
    """The binding of a pod."""
    return bind(one, owner or lws(), within, more.pop("settings", Settings()), **more)


@pytest.mark.parametrize(("rank", "task"), [(0, "leader"), (2, "worker")])
def test_a_pod_gets_its_group_and_its_task(rank, task):
    """From the labels that are there before LWS's own webhook ran."""
    found = answer(fresh(rank))
    assert found.annotations == {names.GROUP_NAME: NAME, names.TASK_SPEC: task}
    assert found.pod_group == pod_group_of(fresh(rank).metadata) == NAME
    assert (found.identity.group, found.identity.worker_index, found.gate) == ("0", rank, False)


def test_asked_again_nothing_is_added():
    """Reinvocation, also after LWS's own webhook."""
    found = answer(pod("0", 1, annotations={}))
    assert found.bound
    assert (found.annotations, found.gate) == ({}, False)


def test_a_task_name_of_the_users_own_is_kept():
    """As an annotation or as a label; the PodGroup follows it."""
    assert names.TASK_SPEC not in answer(fresh(annotations={names.TASK_SPEC: "head"})).annotations
    raw = fresh().manifest()
    raw["metadata"]["labels"][names.TASK_SPEC] = "head"
    assert answer(Pod.parse(raw)).annotations == {names.GROUP_NAME: NAME}


@pytest.mark.parametrize(
    ("one", "owner", "word"),
    [
        (fresh(annotations={names.GROUP_NAME: "mine"}), lws(), "mine"),
        (fresh(), lws(annotations={}), "no gang"),
        (fresh(), lws(scheduling={"x": 1}), "spec.scheduling"),
        (fresh(spec={"schedulerName": ""}), lws(), "default-scheduler"),
        (fresh(), lws(groups=group_template(4, template(scheduler="x"), template())), "schedulerName"),
        (pod("0", joined=False, hash_=""), lws(), "labels"),
        (fresh(), lws(groups=group_template(4, template({names.GROUP_NAME: "g"}))), "own"),
    ],
)
def test_a_pod_that_is_not_ours_to_bind_is_left_alone(one, owner, word):
    """And it is said why."""
    found = answer(one, owner)
    assert not found.bound
    assert not found.annotations
    assert word in found.why


def test_beside_lws_own_provider_nothing_is_added():
    """Its PodGroup belongs to the leader pod."""
    theirs = pod_group(metadata={"ownerReferences": [{"kind": "Pod", "name": "demo-0", "controller": True}]})
    assert not answer(fresh(), pod_group=theirs).bound


def test_the_template_of_the_pods_revision_decides():
    """An opt-in that only the new template has does not reach an old pod."""
    owner = lws(annotations={}, groups=group_template(4, template(OPTED_IN)))
    assert answer(fresh(), owner).bound
    assert not answer(fresh(), owner, template=parsed(group_template())).bound


def test_the_namespace_may_ask_too():
    """Where the LWS says nothing."""
    assert answer(fresh(), lws(annotations={}), namespace(**OPTED_IN)).bound


@pytest.mark.parametrize(
    ("rank", "spec", "gate"),
    [
        (0, None, False),
        (1, None, True),
        (1, {"minMember": 1, "minTaskMember": {"leader": 1}}, True),
        (1, FULL, False),
        (1, {"minMember": 4, "minTaskMember": {"leader": 1}}, True),
    ],
)
@pytest.mark.parametrize("how", ["LeaderReady", "exclusive"])
def test_a_worker_of_a_leader_first_group_is_gated_until_the_minimum_is_final(rank, spec, gate, how):
    """Seen in the PodGroup itself; the leader never is."""
    owner = (
        lws(startupPolicy="LeaderReady")
        if how == "LeaderReady"
        else lws(annotations={**OPTED_IN, names.EXCLUSIVE_TOPOLOGY: "rack"})
    )
    there = None if spec is None else pod_group(owner=owner, spec=spec)
    assert answer(fresh(rank), owner, pod_group=there).gate is gate


def test_a_gate_that_is_on_is_not_added_again():
    """Reinvocation."""
    assert not answer(fresh(1, gates=[names.MINIMUM_GATE]), lws(startupPolicy="LeaderReady")).gate


def test_an_ordinary_worker_is_never_gated():
    """Whether or not its PodGroup is there yet."""
    assert not answer(fresh(1)).gate


@pytest.mark.parametrize("rank", [0, 1])
def test_a_pod_does_not_start_under_a_dying_pod_group(rank):
    """R17 (c): until the old one is gone and the new one there, it is gated."""
    owner = lws()
    dying = pod_group(owner=owner, spec=FULL, metadata={"deletionTimestamp": at(-1)})
    assert answer(fresh(rank), owner, pod_group=dying).gate


def test_a_pod_that_the_user_placed_is_not_gated():
    """The API server would refuse a gate beside a node."""
    assert not answer(fresh(1, node="n1"), lws(startupPolicy="LeaderReady")).gate
