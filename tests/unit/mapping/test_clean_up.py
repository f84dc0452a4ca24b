"""Which PodGroups go: owners, labels, and what an LWS that is gone leaves. Life cycles are in `test_plan_rows`."""

from lws_volcano.api import names
from lws_volcano.mapping.clean_up import clean_up, clean_up_orphans
from tests.unit.mapping.builders import HASH, at, lws, pod, pod_group

NAME = f"demo-0-{HASH}"


def gone(*pod_groups, pods=(), wanted=()):
    """Names that would be deleted for `demo`."""
    return [change.name for change in clean_up(lws(), pods, pod_groups, wanted)]


def test_only_what_is_ours_goes():
    """Owner UID and label, both."""
    ours = pod_group(owner=lws())
    of_before = pod_group("b", owner=lws(uid="before"))
    by_hand = pod_group("c", owner=lws(), metadata={"labels": {}})
    nobodys = pod_group("d", metadata={"labels": {names.MANAGED_BY: names.MANAGER}})
    assert gone(ours, of_before, by_hand, nobodys) == [NAME]


def test_nothing_goes_under_a_pod_that_names_it_or_while_it_is_wanted():
    """An ending pod counts, and so does one of another LWS."""
    ours = pod_group(owner=lws())
    assert gone(ours, pods=[pod(ending=True)]) == []
    assert gone(ours, pods=[pod(of="other", annotations={names.GROUP_NAME: NAME})]) == []
    assert gone(ours, wanted={NAME}) == []


def test_a_deletion_is_not_asked_for_twice():
    """One that is on its way out already."""
    assert gone(pod_group(owner=lws(), metadata={"deletionTimestamp": at(-1)})) == []


def test_orphans_of_an_lws_that_is_gone_go_after_their_last_pod():
    """Ours by the labels, with no owner left."""
    labels = {names.MANAGED_BY: names.MANAGER, names.LWS_NAME: "demo"}
    orphan = pod_group(metadata={"labels": labels})
    owned = pod_group("b", owner=lws(), metadata={"labels": labels})
    others = pod_group("c", metadata={"labels": {**labels, names.LWS_NAME: "other"}})
    assert [change.name for change in clean_up_orphans("demo", [], [orphan, owned, others])] == [NAME]
    assert clean_up_orphans("demo", [pod()], [orphan]) == ()
