"""Queue and priority class: precedence, and what is wrong with them. Queues that open and close: `test_plan_rows`."""

import pytest

from lws_volcano.api import names
from lws_volcano.api.cluster import PriorityClass
from lws_volcano.api.names import Reason
from lws_volcano.mapping.priority import choose_priority_class
from lws_volcano.mapping.problems import Cost
from lws_volcano.mapping.queue import check_queue, choose_queue
from tests.unit.mapping.builders import group_template, lws, namespace, parsed, queue, template


def named(name):
    """Annotation that names a queue."""
    return {names.QUEUE_NAME: name}


@pytest.mark.parametrize(
    ("annotations", "groups", "within", "chosen"),
    [
        (named("a"), group_template(4, template(named("b"))), named("c"), "a"),
        ({}, group_template(4, template(named("w")), template(named("l"))), named("c"), "l"),
        ({}, group_template(4, template(named("w")), template()), named("c"), "w"),
        ({}, None, named("c"), "c"),
        ({}, None, {}, "default"),
    ],
)
def test_the_nearest_queue_counts(annotations, groups, within, chosen):
    """LWS, leader's template, worker's template, namespace, default."""
    owner = lws(annotations=annotations, groups=groups or group_template())
    assert choose_queue(owner, owner.spec.leader_worker_template, namespace(**within))[0] == chosen


@pytest.mark.parametrize(
    ("name", "queues", "reason"),
    [
        ("q", None, None),
        ("q", {"q": queue("q")}, None),
        ("q", {"q": queue("q", "")}, None),
        ("default", {}, None),
        ("q", {}, Reason.QUEUE_NOT_FOUND),
        ("q", {"q": queue("q", "Closed")}, Reason.QUEUE_NOT_OPEN),
        ("q", {"q": queue("q", "Closing")}, Reason.QUEUE_NOT_OPEN),
        ("default", {"default": queue("default", "Closed")}, Reason.QUEUE_NOT_OPEN),
        ("Not a name", None, Reason.INVALID_ANNOTATION),
        ("q" * 254, None, Reason.INVALID_ANNOTATION),
    ],
)
def test_a_queue_that_takes_no_pod_groups_is_reported(name, queues, reason):
    """It costs the creation of new PodGroups; nothing is concluded from what can't be read."""
    problem = check_queue(name, "the LeaderWorkerSet", queues)
    assert (problem.reason if problem else None) is reason
    assert problem is None or problem.cost is Cost.CREATION


def classes(*known):
    """Priority classes by name."""
    return {name: PriorityClass.parse({"metadata": {"name": name}}) for name in known}


def prioritised(worker="", leader=None):
    """A group template with priority classes."""
    own = None if leader is None else template(priorityClassName=leader)
    return parsed(group_template(4, template(priorityClassName=worker), own))


@pytest.mark.parametrize(
    ("groups", "known", "chosen", "reason"),
    [
        (prioritised("high"), classes("high"), "high", None),
        (prioritised("high", "high"), None, "high", None),
        (prioritised(), classes(), "", None),
        (prioritised("system-node-critical"), classes(), "system-node-critical", None),
        (prioritised("high", "low"), classes("high", "low"), "", Reason.PRIORITY_CLASS_CONFLICT),
        (prioritised("high", ""), classes("high"), "", Reason.PRIORITY_CLASS_CONFLICT),
        (prioritised("high"), classes("low"), "", Reason.PRIORITY_CLASS_NOT_FOUND),
    ],
)
def test_leader_and_workers_agree_on_a_class_that_exists(groups, known, chosen, reason):
    """Else none is written, and it is said."""
    found, problem = choose_priority_class(groups, known)
    assert found == chosen
    assert (problem.reason if problem else None) is reason


def test_the_unused_worker_template_of_a_single_pod_has_no_say():
    """Size 1 has a leader only."""
    groups = parsed(group_template(1, template(priorityClassName="x"), template(priorityClassName="y")))
    assert choose_priority_class(groups, None) == ("y", None)
