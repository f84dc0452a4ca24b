"""Opt-in: who asks for a gang, and what a pod's scheduler has to do with it. Left out: standing down (its own file)."""

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.opt_in import opt_in
from tests.unit.mapping.builders import OPTED_IN, group_template, lws, namespace, parsed, template

OUT = {names.GANG: "false"}


def ask(annotations=None, groups=None, within=None, **settings):
    """The answer for an LWS."""
    owner = lws(annotations=annotations or {}, groups=groups or group_template())
    return opt_in(owner, owner.spec.leader_worker_template, within, Settings(**settings))


def test_nothing_is_done_without_being_asked():
    """The default is no."""
    assert not ask().wanted


@pytest.mark.parametrize(
    ("annotations", "groups", "within", "default", "wanted"),
    [
        (OPTED_IN, group_template(4, template(OUT)), namespace(**OUT), False, True),
        (OUT, group_template(4, template(OPTED_IN)), namespace(**OPTED_IN), True, False),
        ({}, group_template(4, template(OUT), template(OPTED_IN)), namespace(**OUT), False, True),
        ({}, group_template(4, template(OPTED_IN)), namespace(**OUT), False, True),
        ({}, group_template(4, template(OUT)), namespace(**OPTED_IN), True, False),
        ({}, None, namespace(**OPTED_IN), False, True),
        ({}, None, namespace(**OUT), True, False),
        ({}, None, None, True, True),
    ],
)
def test_the_nearest_word_counts(annotations, groups, within, default, wanted):
    """LWS, then leader's template, then worker's, then namespace, then configuration."""
    assert ask(annotations, groups, within, gang_by_default=default).wanted is wanted


@pytest.mark.parametrize("value", ["True", "yes", "", "1"])
def test_another_value_counts_as_not_said_and_is_reported(value):
    """Key, value, and what is allowed."""
    answer = ask({names.GANG: value}, within=namespace(**OPTED_IN))
    assert answer.wanted
    (problem,) = answer.problems
    assert problem.reason is Reason.INVALID_ANNOTATION
    assert all(part in problem.message for part in (names.GANG, repr(value), '"true"', '"false"'))


@pytest.mark.parametrize(
    ("leader", "worker", "granted"),
    [("volcano", "volcano", True), ("", "volcano", False), ("volcano", "default-scheduler", False), ("", "", False)],
)
def test_leader_and_workers_must_both_be_volcanos(leader, worker, granted):
    """Else the gang is refused, and the message says which one is wrong."""
    groups = group_template(4, template(scheduler=worker), template(scheduler=leader))
    answer = ask(OPTED_IN, groups)
    assert answer.wanted
    assert answer.granted is granted
    assert [problem.reason for problem in answer.problems] == ([] if granted else [Reason.WRONG_SCHEDULER])


def test_a_group_of_one_has_no_worker_to_ask():
    """The unused worker template may say what it likes."""
    assert ask(OPTED_IN, group_template(1, template(scheduler="x"), template())).granted


def test_a_workload_of_another_scheduler_is_not_meant_by_the_namespace():
    """No gang and no complaint."""
    answer = ask({}, group_template(4, template(scheduler="")), namespace(**OPTED_IN))
    assert (answer.wanted, answer.problems) == (False, ())


def test_the_scheduler_may_go_by_another_name():
    """It is a setting."""
    groups = group_template(4, template(scheduler="vc"))
    assert ask(OPTED_IN, groups, scheduler_name="vc").granted


def test_the_template_of_the_revision_decides():
    """Not the live one."""
    owner = lws(annotations={}, groups=group_template(4, template(OPTED_IN)))
    assert not opt_in(owner, parsed(group_template()), None, Settings()).wanted
