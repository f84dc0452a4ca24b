"""Which pods of a group count, and which PodGroups wait for theirs through a restart. Sequences: `test_plan_rows`."""

from lws_volcano.api import names
from lws_volcano.mapping.groups import group_pods
from lws_volcano.mapping.members import present
from lws_volcano.mapping.minimum import minimum
from lws_volcano.mapping.restart import current_revision, returning
from tests.unit.mapping.builders import HASH, at, group, lws, pod, pod_group, revision

NEW = "5c9d7bb8f4"


def counted(*pods):
    """Rank -> UID of the members."""
    (there,) = group_pods(pods)
    return {rank: one.uid for rank, one in present(there.ranked).items()}


def test_ending_and_finished_pods_do_not_count():
    """Whatever node they hold."""
    pods = pod(uid="a"), pod("0", 1, uid="b", ending=True, node="n"), pod("0", 2, uid="c", phase="Failed")
    assert counted(*pods) == {0: "a"}


def test_of_two_pods_with_one_rank_the_later_counts():
    """In any order."""
    old, new = pod(uid="old", created=-9, node="n"), pod(uid="new", created=0)
    assert counted(old, new) == counted(new, old) == {0: "new"}


def test_workers_of_the_stateful_set_before_do_not_count():
    """They are told apart by owner UID, even where their ranks do not meet."""
    former = [pod("0", rank, uid=f"old-{rank}", owner="former", created=-9, node="n") for rank in (1, 2)]
    assert counted(pod(), *former, pod("0", 3, uid="new", owner="latest")) == {0: pod().uid, 3: "new"}


def test_a_free_worker_that_waits_holds_the_minimum_up():
    """One of three is there without our gate, and the new leader has no node: it must not start alone."""
    owner = lws(startupPolicy="LeaderReady")
    template = owner.spec.leader_worker_template
    (free,) = group_pods([pod(), pod("0", 1)])
    (gated,) = group_pods([pod(), pod("0", 1, gates=[names.MINIMUM_GATE])])
    (bound,) = group_pods([pod(), pod("0", 1, node="n1")])
    assert [minimum(owner, template, one, None).final for one in (free, gated, bound)] == [True, False, False]


def waiting_for(*pods, replicas=2, **more):
    """PodGroups of both revisions of group 0 that stay through a moment without pods."""
    owner = lws(replicas=replicas, **more)
    revisions = revision(owner), revision(owner, hash_=NEW, number=2)
    labels = {names.GROUP_INDEX: "0"}
    there = [
        pod_group(f"demo-0-{hash_}", owner=owner, metadata={"labels": {**labels, names.REVISION_HASH: hash_}})
        for hash_ in (HASH, NEW)
    ]
    return returning(owner, revisions, group_pods(pods), there)


def test_only_the_current_revision_of_a_group_that_is_to_be_comes_back():
    """Not the former one, not one at or above replicas, none of an LWS that is being deleted."""
    assert waiting_for() == {f"demo-0-{NEW}"}
    assert waiting_for(replicas=0) == set()
    assert waiting_for(metadata={"deletionTimestamp": at(-1)}) == set()


def test_beside_pods_of_another_revision_an_empty_pod_group_is_not_kept():
    """It would hold queue room twice for one group, and a full cluster could not go on."""
    assert waiting_for(*group("0")) == set()
    assert waiting_for(*group("1")) == {f"demo-0-{NEW}"}


def test_the_newest_number_is_the_current_revision():
    """Of this very LWS; a template that comes back has a new number."""
    owner = lws()
    back = revision(owner, hash_=HASH, number=3)
    others = revision(lws(uid="another"), hash_="x", number=9)
    assert current_revision(owner, (back, revision(owner, hash_=NEW, number=2), others)) == HASH
    assert current_revision(owner, ()) == ""
