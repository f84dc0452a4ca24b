"""The slim views: defaults, nulls, names. Left out: what is decided from them."""

from lws_volcano.api.pods import Pod, PodTemplate
from lws_volcano.api.volcano import PodGroupSpec
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet


def test_defaults_of_the_api_are_there_without_an_api_server():
    """A manifest that leaves out everything is one group of one pod."""
    lws = LeaderWorkerSet.parse({"metadata": {"name": "x"}, "spec": {"leaderWorkerTemplate": {}}})
    assert (lws.spec.replicas, lws.spec.leader_worker_template.size, lws.spec.leader_worker_template.workers) == (
        1,
        1,
        0,
    )


def test_explicit_nulls_are_absent_values():
    """`annotations:` and nothing after it is an empty map."""
    template = PodTemplate.model_validate(
        {"metadata": {"annotations": None, "labels": {"a": "b"}}, "spec": {"containers": None}}
    )
    assert template.metadata.annotations == {}
    assert template.spec.containers == ()


def test_one_template_serves_leader_and_workers():
    """Without a leader template the leader is made from the workers'."""
    raw = {"spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {"schedulerName": "volcano"}}}}}
    assert LeaderWorkerSet.parse(raw).spec.leader_worker_template.leader.spec.scheduler_name == "volcano"


def test_key_has_the_namespace_only_where_there_is_one():
    """The key of stores and queues."""
    assert Pod.parse({"metadata": {"namespace": "a", "name": "b"}}).key == "a/b"
    assert Pod.parse({"metadata": {"name": "b"}}).key == "b"


def test_revision_belongs_to_the_lws_and_not_to_a_stateful_set():
    """StatefulSets keep ControllerRevisions under the same labels."""
    owner = {"kind": "StatefulSet", "uid": "1", "controller": True}
    revision = ControllerRevision.parse({"metadata": {"ownerReferences": [owner]}, "data": {"spec": {"template": {}}}})
    assert revision.owner_uid == ""
    assert revision.template() is None


def test_manifest_has_only_what_was_set():
    """Server-side apply must own exactly our fields."""
    assert PodGroupSpec(min_member=2, min_task_member={"leader": 1}).manifest() == {
        "minMember": 2,
        "minTaskMember": {"leader": 1},
    }
