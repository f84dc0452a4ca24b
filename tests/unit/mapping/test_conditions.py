"""What people are told: rows, reasons, counts. Built from pods; of a PodGroup only the wait for its queue is read."""

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.mapping.plan import plan_lws
from tests.unit.mapping.builders import (
    OPTED_IN,
    at,
    group,
    group_template,
    lws,
    pod,
    pod_group,
    queue,
    revision,
    snapshot,
    template,
)

UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/8 nodes are available: 8 Insufficient nvidia.com/gpu, 2 Insufficient cpu.",
}


def found(owner=None, pods=(), **more):
    """The plan."""
    return plan_lws(snapshot(owner or lws(), pods, **more))


def test_all_groups_placed_is_true():
    """Also while containers still start."""
    plan = found(lws(replicas=2), (*group("0", node="n1"), *group("1", node="n2", phase="Pending")))
    assert plan.condition.status
    assert plan.condition.reason is Reason.ALL_GROUPS_PLACED
    assert plan.condition.message == "2 of 2 groups placed"
    assert [row.reason for row in plan.groups] == [Reason.RUNNING, Reason.STARTING]


def test_groups_that_have_not_begun_are_listed():
    """A group that LWS has not made yet is missing, not placed."""
    plan = found(lws(replicas=3), group("1", node="n1"))
    assert [(row.group, row.created, row.reason) for row in plan.groups] == [
        ("1", 4, Reason.RUNNING),
        ("0", 0, Reason.PODS_NOT_CREATED),
        ("2", 0, Reason.PODS_NOT_CREATED),
    ]
    assert not plan.condition.status
    assert plan.condition.message.startswith("1 of 3 groups placed")


def test_no_replicas_is_nothing_to_place():
    """True, so that nobody is woken up."""
    plan = found(lws(replicas=0))
    assert (plan.condition.status, plan.condition.reason) == (True, Reason.NO_GROUPS)


def test_waiting_for_capacity_names_the_resources():
    """From the scheduler's verdict on the pods."""
    plan = found(lws(), group(conditions=[UNSCHEDULABLE]))
    assert plan.condition.reason is Reason.WAITING_FOR_CAPACITY
    assert "short of cpu, nvidia.com/gpu" in plan.condition.message


def test_without_a_word_of_the_scheduler_the_request_is_named():
    """Volcano says nothing about a PodGroup that it has not seen."""
    plan = found(lws(), group())
    assert plan.groups[0].reason is Reason.WAITING_FOR_CAPACITY
    assert "the group asks for cpu 4" in plan.groups[0].message
    assert "queue" not in plan.groups[0].message


def test_a_set_that_was_placed_outside_its_gang_is_not_gang_scheduled():
    """It is placed and runs, but nothing was all or nothing; a group that waits comes first."""
    owner = lws(replicas=2)
    outside = [*group("0", node="n1", joined=False), *group("1", node="n1", joined=False)]
    condition = found(owner, outside).condition
    assert (condition.status, condition.reason) == (False, Reason.POD_NOT_IN_GANG)
    assert "2 of 2 groups placed" in condition.message
    assert "(group 0, 1)" in condition.message
    assert "delete its leader pod" in condition.message
    one_waits = found(owner, [*group("0", node="n1", joined=False), *group("1")]).condition
    assert one_waits.reason is Reason.WAITING_FOR_CAPACITY


def test_a_group_that_its_queue_has_not_let_in_names_the_queue():
    """Phase Pending: the scheduler does not look at the pods yet."""
    owner = lws()
    before_it = pod_group(owner=owner, status={"phase": "Pending"})
    message = found(owner, group(), pod_groups=(before_it,)).groups[0].message
    assert "queue 'default' has not let it in yet" in message
    let_in = pod_group(owner=owner, status={"phase": "Inqueue"})
    assert "queue" not in found(owner, group(), pod_groups=(let_in,)).groups[0].message


def test_a_queue_that_is_too_small_is_named():
    """R14: capability 2, the group asks for 4; the scheduler would keep it Pending without a word on the pods."""
    owner = lws(
        annotations={**OPTED_IN, names.QUEUE_NAME: "q"},
        groups=group_template(4, template(requests={"nvidia.com/gpu": "1"})),
    )
    there = pod_group(owner=owner, spec={"queue": "q"})
    plan = found(owner, group(), pod_groups=(there,), queues={"q": queue("q", **{"nvidia.com/gpu": "2"})})
    assert plan.condition.reason is Reason.WAITING_FOR_CAPACITY
    assert "nvidia.com/gpu 4 of at most 2" in plan.condition.message


def test_the_newest_word_about_a_pod_group_counts():
    """Conditions never go away: an Unschedulable older than Scheduled says nothing."""
    owner = lws()
    old = {"type": "Unschedulable", "status": "True", "message": "Insufficient memory", "lastTransitionTime": at(-9)}
    new = {"type": "Scheduled", "status": "True", "lastTransitionTime": at(-1)}
    overtaken = found(owner, group(), pod_groups=(pod_group(owner=owner, status={"conditions": [old, new]}),))
    standing = found(owner, group(), pod_groups=(pod_group(owner=owner, status={"conditions": [old]}),))
    assert "short of memory" not in overtaken.groups[0].message
    assert "short of memory" in standing.groups[0].message


def test_starting_says_what_the_containers_wait_for():
    """Image pulls are told apart from scheduling."""
    raw = pod(node="n1", phase="Pending").manifest()
    raw["status"]["containerStatuses"] = [{"name": "app", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]
    plan = found(lws(groups=group_template(1)), (type(pod()).parse(raw),))
    assert plan.groups[0].reason is Reason.STARTING
    assert "ImagePullBackOff (1 containers)" in plan.groups[0].message


def test_a_group_that_only_ends_does_not_count():
    """The old revision's last pods beside the new one, which is placed."""
    owner = lws(groups=group_template(2))
    revisions = (revision(owner, group_template(2)), revision(owner, group_template(2), "new", number=2))
    plan = found(owner, (*group(size=2, ending=True), *group(size=2, hash_="new", node="n")), revisions=revisions)
    assert plan.condition.status
    assert {row.reason for row in plan.groups} == {Reason.TERMINATING, Reason.RUNNING}


def test_a_revision_that_is_not_known_is_waited_for():
    """Size as LWS wrote it on the pods; nothing is written and nothing deleted."""
    owner = lws()
    plan = found(owner, (pod(annotations={names.SIZE: "7"}),), revisions=(), pod_groups=(pod_group(owner=owner),))
    assert plan.changes == ()
    assert [(row.reason, row.size) for row in plan.groups] == [(Reason.REVISION_NOT_FOUND, 7)]


def test_an_lws_without_a_gang_is_not_spoken_of():
    """No condition, no rows."""
    plan = found(lws(annotations={}), group())
    assert (plan.condition, plan.groups, plan.notices) == (None, (), ())


def test_a_bad_opt_in_is_spoken_of_even_so():
    """Somebody meant something."""
    plan = found(lws(annotations={names.GANG: "on"}), group())
    assert plan.condition.reason is Reason.INVALID_ANNOTATION
    assert not plan.condition.status
    assert plan.groups == ()


@pytest.mark.parametrize(("node", "status"), [("n1", True), ("", False)])
def test_something_to_mend_gives_the_reason_whatever_the_status(node, status):
    """Nobody reads further than the reason."""
    plan = found(lws(annotations={**OPTED_IN, names.MIN_RESOURCES: "x"}), group(node=node))
    assert (plan.condition.status, plan.condition.reason) == (status, Reason.INVALID_ANNOTATION)


def test_messages_stay_short_for_a_thousand_groups():
    """Three examples and a count."""
    plan = found(lws(replicas=1000), [pod(str(index)) for index in range(1000)])
    assert "and 997 more" in plan.condition.message
    assert len(plan.condition.message) < 400


def test_a_thousand_groups_with_one_trouble_make_a_few_notices():
    """Words that do not change while the trouble lasts, so that each is said once."""
    pods = [one for index in range(50) for one in group(str(index), node="n1", joined=False)]
    plan = found(lws(replicas=50), pods)
    assert [notice.reason for notice in plan.notices] == [Reason.POD_NOT_IN_GANG] * 5


def test_a_bad_placement_wish_is_reported_and_costs_nothing_else():
    """A hint is never worth a waiting group."""
    plan = found(lws(annotations={**OPTED_IN, names.PLACEMENT: "always"}), group())
    assert plan.condition.reason is Reason.INVALID_ANNOTATION
    assert len(plan.changes) == 1


def test_groups_that_are_not_there_count_even_where_they_have_no_number():
    """One placed group of three is not all of them, though nobody can name the others."""
    plan = found(lws(replicas=3), group("alpha", node="n1"))
    assert not plan.condition.status
    assert plan.condition.message == "1 of 3 groups placed"
    assert [row.group for row in plan.groups] == ["alpha"]
