"""minResources from templates. Left out: the arithmetic of one pod (`api.requests`), whole manifests (the cases)."""

from lws_volcano.api import names
from lws_volcano.api.cluster import RuntimeClass
from lws_volcano.api.names import Reason
from lws_volcano.mapping.problems import Cost
from lws_volcano.mapping.resources import min_resources
from tests.unit.mapping.builders import OPTED_IN, group_template, lws, template


def numbers(groups, annotations=OPTED_IN, runtime_classes=None):
    """Value and problems."""
    owner = lws(groups=groups, annotations=annotations)
    return min_resources(owner, owner.spec.leader_worker_template, runtime_classes)


def test_leader_and_workers_are_summed():
    """One leader, size - 1 workers."""
    groups = group_template(5, template(requests={"nvidia.com/gpu": "8"}), template(requests={"cpu": "4"}))
    assert numbers(groups) == ({"cpu": "4", "nvidia.com/gpu": "32"}, ())


def test_keys_are_plain_and_never_zero():
    """Neither `requests.*` nor a key with nothing in it."""
    found, _ = numbers(group_template(2, template(requests={"cpu": "0", "memory": "1Gi"})))
    assert found == {"memory": "2Gi"}


def test_the_overhead_of_a_runtime_class_counts_for_every_pod():
    """Where the classes can be read."""
    kata = RuntimeClass.parse({"metadata": {"name": "kata"}, "overhead": {"podFixed": {"cpu": "250m"}}})
    groups = group_template(4, template(runtimeClassName="kata"))
    assert numbers(groups, runtime_classes={"kata": kata})[0] == {"cpu": "5"}
    assert numbers(groups)[0] == {"cpu": "4"}


def test_none_leaves_the_field_out():
    """For autoscalers that look at unschedulable pods."""
    assert numbers(group_template(), {**OPTED_IN, names.MIN_RESOURCES: "none"}) == ({}, ())


def test_another_value_is_reported_and_the_whole_group_counts():
    """The default holds."""
    found, (problem,) = numbers(group_template(), {**OPTED_IN, names.MIN_RESOURCES: "all"})
    assert found == {"cpu": "4"}
    assert problem.reason is Reason.INVALID_ANNOTATION
    assert problem.cost is Cost.PART


def test_a_bad_quantity_costs_everything_and_names_its_resource():
    """Half a sum would be a wrong promise."""
    found, (problem,) = numbers(group_template(2, template(requests={"cpu": "many"})))
    assert found == {}
    assert (problem.reason, problem.cost) == (Reason.INVALID_QUANTITY, Cost.EVERYTHING)
    assert "cpu" in problem.message
    assert "'many'" in problem.message
