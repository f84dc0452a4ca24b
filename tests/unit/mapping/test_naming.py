"""Names: of PodGroups, and of sets whose name leaves their pods no room.

Left out: what the API server makes of them (tests/integration/test_trouble).
"""

import pytest

from lws_volcano.api.names import Reason
from lws_volcano.mapping.changes import GroupStatus
from lws_volcano.mapping.conditions.unmade import name_without_pods
from lws_volcano.mapping.naming import check_name, pod_group_name


def row(group="0", *, created=0, size=2, reason=Reason.PODS_NOT_CREATED):
    """One group as it stands."""
    return GroupStatus(
        group=group, revision="", pod_group="", size=size, created=created, placed=0, running=0, reason=reason
    )


def test_pod_group_names():
    """Set, group index, revision hash: the index as it is written."""
    assert pod_group_name("demo", "7", "abc") == "demo-7-abc"
    assert pod_group_name("demo", "blue", "abc") == "demo-blue-abc"


def test_a_pod_group_name_that_is_too_long():
    """It is refused with both lengths, never cut."""
    assert check_name("n" * 253) is None
    problem = check_name("n" * 254)
    assert problem is not None
    assert "254" in problem.message


@pytest.mark.parametrize(
    ("length", "rows", "told"),
    [
        (52, [row()], False),
        (53, [row()], True),
        (53, [row(created=2, reason=Reason.WAITING_FOR_CAPACITY)], False),
        (50, [row(created=1)], False),
        (50, [row("10", created=1)], True),
        (51, [row(created=1)], True),
        (51, [row(created=1, reason=Reason.WAITING_FOR_CAPACITY)], True),
        (51, [row(created=1, size=1, reason=Reason.RUNNING)], False),
        (60, [], False),
    ],
)
def test_a_set_whose_pods_can_not_be_made(length, rows, told):
    """Said only where pods are missing: leaders by the set's name, workers by that of their StatefulSet."""
    problem = name_without_pods("n" * length, rows)
    assert (problem is not None) == told
    if problem is not None:
        assert problem.reason is Reason.NAME_TOO_LONG
        assert "at most" in problem.message
