"""Which group and rank a pod is, before and after LWS's own webhook ran. Left out: what follows from it (`binding`)."""

import pytest

from lws_volcano.api import names
from lws_volcano.api.meta import Metadata
from lws_volcano.mapping.identity import Identity, identify
from lws_volcano.mapping.naming import check_name, pod_group_name

BASE = {names.LWS_NAME: "demo", names.REVISION_HASH: "h"}


@pytest.mark.parametrize(
    ("name", "labels", "group", "rank"),
    [
        ("demo-3", {names.WORKER_INDEX: "0", names.POD_INDEX: "3"}, "3", 0),
        ("demo-3", {names.WORKER_INDEX: "0", names.GROUP_INDEX: "3", names.POD_INDEX: "3"}, "3", 0),
        ("demo-3", {names.WORKER_INDEX: "0"}, "3", 0),
        ("demo-3-2", {names.GROUP_INDEX: "3", names.POD_INDEX: "2"}, "3", 2),
        ("demo-3-2", {names.GROUP_INDEX: "3"}, "3", 2),
        ("demo-3-2", {names.GROUP_INDEX: "3", names.WORKER_INDEX: "2", names.POD_INDEX: "2"}, "3", 2),
        ("demo-blue-a-12", {names.GROUP_INDEX: "blue-a", names.POD_INDEX: "12"}, "blue-a", 12),
    ],
    ids=["leader early", "leader late", "leader old", "worker early", "worker old", "worker late", "string index"],
)
def test_group_and_rank_come_from_what_is_there(name, labels, group, rank):
    """Labels first, the pod index where LWS has not been yet, the name at last."""
    assert identify(Metadata(name=name, labels={**BASE, **labels})) == Identity("demo", group, "h", rank)


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {names.LWS_NAME: "demo", names.WORKER_INDEX: "0", names.POD_INDEX: "1"},
        {**BASE},
        {**BASE, names.POD_INDEX: "1"},
        {**BASE, names.GROUP_INDEX: "1", names.WORKER_INDEX: "x"},
    ],
)
def test_too_little_said_is_no_identity(labels):
    """No LWS, no revision, no rank, or a rank that is no number."""
    assert identify(Metadata(name="x", labels=labels)) is None


def test_names_of_the_longest_lws_are_whole():
    """63 characters and an index of many are far from the limit; beyond it nothing is cut."""
    assert check_name(pod_group_name("a" * 63, "0", "6797748df8")) is None
    problem = check_name(pod_group_name("a" * 63, "9" * 200, "h"))
    assert problem is not None
    assert "shorter name" in problem.message
