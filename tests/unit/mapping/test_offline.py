"""Planning from documents: groups and hashes that the input does not show, children of DisaggregatedSets."""

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import DisaggregatedSet
from lws_volcano.mapping.disaggregated import children
from lws_volcano.mapping.offline import ZERO_UID, placeholder_hash, plan_offline
from lws_volcano.mapping.snapshot import Snapshot
from tests.unit.mapping.builders import HASH, NOW, OPTED_IN, group, group_template, lws, parsed, revision, template


def planned(owner, **more):
    """The plan of one LWS."""
    return plan_offline(Snapshot(lws=owner, now=NOW, settings=Settings(), **more))


def test_every_group_has_a_pod_group_before_there_is_a_pod():
    """As many as replicas, under a placeholder hash, owned by the zero UUID."""
    bare = lws(replicas=3, namespace="")
    bare = bare.model_copy(update={"metadata": bare.metadata.model_copy(update={"uid": ""})})
    plan = planned(bare)
    hash_ = placeholder_hash(bare.spec.leader_worker_template)
    assert [one.pod_group for one in plan.groups] == [f"demo-{index}-{hash_}" for index in range(3)]
    metadata = plan.groups[0].manifest["metadata"]
    assert metadata["namespace"] == "default"
    assert metadata["ownerReferences"][0]["uid"] == ZERO_UID
    assert all(one.members == {} for one in plan.groups)


def test_the_hash_is_taken_from_a_revision_of_the_same_content():
    """Or from the pods, when there are no revisions."""
    owner = lws()
    assert planned(owner, revisions=(revision(owner, hash_="real"),)).groups[0].revision == "real"
    plan = planned(lws(replicas=2), pods=group("0", node="n1"))
    assert [one.revision for one in plan.groups] == [HASH, HASH]
    assert [len(one.members) for one in plan.groups] == [4, 0]


def test_a_placeholder_depends_on_the_content_alone():
    """Two LWS with one template share it; another template has another."""
    one, other = parsed(group_template()), parsed(group_template(5))
    assert placeholder_hash(one) == placeholder_hash(parsed(group_template()))
    assert placeholder_hash(one) != placeholder_hash(other)
    assert len(placeholder_hash(one)) == len(HASH)


def test_a_refusal_is_told_with_its_reason():
    """No manifest, one problem."""
    plan = planned(lws(groups=group_template(6, subGroupPolicy={"subGroupSize": 4})))
    assert plan.refusal.reason is Reason.INVALID_SUBGROUP
    assert [(one.manifest, one.problem.reason) for one in plan.groups] == [(None, Reason.INVALID_SUBGROUP)]


def test_without_an_opt_in_there_is_nothing():
    """And nothing is wrong."""
    plan = planned(lws(annotations={}))
    assert not plan.wanted
    assert (plan.refusal, plan.condition, plan.problems) == (None, None, ())
    assert all(one.manifest is None for one in plan.groups)


def test_a_disaggregated_set_becomes_one_lws_a_slice_and_role():
    """With the role's metadata, without the roles of which the input has an LWS already."""
    roles = [
        {
            "name": role,
            "metadata": {"annotations": OPTED_IN},
            "spec": {"leaderWorkerTemplate": group_template(2, template())},
        }
        for role in ("prefill", "decode")
    ]
    parent = DisaggregatedSet.parse(
        {"metadata": {"name": "d", "namespace": "n"}, "spec": {"slices": 2, "roles": roles}}
    )
    made = children(parent)
    assert [one.name.split("-")[1::2] for one in made] == [
        ["0", "prefill"],
        ["0", "decode"],
        ["1", "prefill"],
        ["1", "decode"],
    ]
    assert {one.namespace for one in made} == {"n"}
    assert all(one.metadata.annotations[names.GANG] == "true" for one in made)
    assert all(planned(one).groups[0].manifest for one in made)
    assert children(parent, made[:2]) == made[2:]
