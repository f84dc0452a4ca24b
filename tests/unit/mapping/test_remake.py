"""Groups whose place is lost are made anew: when, how often, and what is left of it.

Left out: whether a place is lost (tests/unit/state/test_places).
"""

from datetime import timedelta

import pytest

from lws_volcano.api.names import REMADE, Reason
from lws_volcano.api.settings import Settings
from lws_volcano.mapping.changes import ApplyPodGroup, DeletePod
from lws_volcano.mapping.plan import plan_lws
from lws_volcano.mapping.remake import LOOK_AGAIN, remake_annotation
from tests.unit.mapping.builders import HASH, NOW, group, lws, pod, pod_group, snapshot

NAME = f"demo-0-{HASH}"
AFTER = timedelta(seconds=Settings().remake_after)


def outcome(lost, *, mark="", pods=None, settings=None):
    """Plan of a set whose group waits for a place."""
    owner = lws(annotations={"lws-volcano.io/gang": "true"})
    metadata = {"annotations": {REMADE: mark}} if mark else {}
    return plan_lws(
        snapshot(
            owner,
            pods or group(),
            places={NAME: lost},
            pod_groups=(pod_group(owner=owner, metadata=metadata),),
            settings=settings or Settings(),
        )
    )


def deleted(plan):
    """Names of the leaders that go."""
    return [change.name for change in plan.changes if isinstance(change, DeletePod)]


def test_a_leader_goes_once_its_place_was_lost_for_long_enough():
    """The mark is written first, and an Event says why."""
    plan = outcome(NOW - AFTER)
    apply, deletion = (change for change in plan.changes if isinstance(change, ApplyPodGroup | DeletePod))
    assert apply.manifest["metadata"]["annotations"][REMADE] == f"1 {deletion.uid}"
    assert deletion.name == "demo-0"
    assert Reason.LEADER_REMADE in {notice.reason for notice in plan.notices}


def test_until_then_it_is_waited_for():
    """The set comes back by itself, for room that comes and goes does not bring it back."""
    for lost in (None, NOW):
        plan = outcome(lost)
        assert deleted(plan) == []
        assert plan.recheck_after == LOOK_AGAIN.total_seconds()


def test_each_time_takes_twice_as_long():
    """One that was made anew once waits two limits."""
    assert deleted(outcome(NOW - AFTER, mark="1 before")) == []
    assert deleted(outcome(NOW - 2 * AFTER, mark="1 before")) == ["demo-0"]


def test_there_is_an_end():
    """At the limit the group waits."""
    assert deleted(outcome(NOW - 99 * AFTER, mark="3 before")) == []
    assert deleted(outcome(NOW - AFTER, settings=Settings(remake_limit=0))) == []


def test_a_crash_before_the_deletion_counts_once():
    """The mark names the leader that is still there: it goes, and the count stays."""
    plan = outcome(None, mark=f"1 {pod().uid}")
    assert deleted(plan) == ["demo-0"]
    assert not [change for change in plan.changes if isinstance(change, ApplyPodGroup) and REMADE in str(change.prune)]
    assert remake_annotation({REMADE: "1 u"}, remaking="u") == {REMADE: "1 u"}


def test_a_group_of_which_a_pod_has_a_node_stays():
    """Only wholly unbound groups are made anew."""
    assert deleted(outcome(NOW - AFTER, pods=[pod("0", 0), pod("0", 1, node="n1")])) == []


@pytest.mark.parametrize("mark", ["", "x", "2", "-1 u"])
def test_a_mark_that_is_none_counts_as_none(mark):
    """Somebody may have edited it."""
    assert remake_annotation({REMADE: mark}, remaking="new")[REMADE].endswith(" new")


def test_the_mark_goes_when_the_group_is_whole():
    """The next loss is a first one."""
    assert remake_annotation({REMADE: "2 u"}, whole=True) == {}
