"""spec.networkTopology: mode, tier, scope, and what is refused. Left out: how tiers are built (`topology`)."""

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.volcano import NetworkTopology
from lws_volcano.mapping.network_topology import network_topology
from lws_volcano.mapping.problems import Cost
from lws_volcano.mapping.snapshot import Capabilities
from lws_volcano.mapping.sub_groups import sub_groups
from lws_volcano.topology.build import build
from lws_volcano.topology.schema import ClusterTopology
from tests.unit.mapping.builders import group_template, lws, parsed, template

TOPOLOGY = build(
    ClusterTopology.model_validate(
        {
            "apiVersion": "lws-volcano.io/v1alpha1",
            "kind": "ClusterTopology",
            "metadata": {"name": "dc1"},
            "spec": {
                "tiers": [{"name": "rack"}, {"name": "spine"}],
                "domains": [
                    {"name": "s1", "tier": "spine"},
                    {"name": "r1", "tier": "rack", "parent": "s1", "nodes": ["n1", "n2"]},
                ],
            },
        }
    ),
    None,
)
MODE, TIER, SCOPE = names.NETWORK_TOPOLOGY_MODE, names.NETWORK_TOPOLOGY_HIGHEST_TIER, names.TOPOLOGY_SCOPE


def constraint(annotations, topology=TOPOLOGY, groups=None, **capabilities):
    """What comes out for an LWS with these annotations."""
    owner = lws(annotations=annotations, groups=groups or group_template())
    return network_topology(owner, owner.spec.leader_worker_template, topology, Capabilities(**capabilities))


@pytest.mark.parametrize(
    ("annotations", "mode", "tier"),
    [
        ({MODE: "hard", TIER: "1"}, "hard", 1),
        ({MODE: "hard", TIER: "rack"}, "hard", 1),
        ({MODE: "soft", TIER: "spine"}, "soft", 2),
        ({TIER: "spine"}, "hard", 2),
        ({MODE: "soft"}, "soft", None),
    ],
)
def test_mode_and_tier_are_resolved_and_the_number_is_written(annotations, mode, tier):
    """A name becomes its number; a tier without a mode is hard."""
    found = constraint(annotations)
    expected = {"mode": mode} if tier is None else {"mode": mode, "highest_tier_allowed": tier}
    assert found.topology == NetworkTopology(**expected)
    assert found.problems == ()


def test_nothing_asked_is_nothing_written():
    """No annotation, no constraint, no word."""
    assert constraint({}).topology is None
    assert constraint({}).problems == ()


def test_hard_without_a_tier_is_one_tree_and_the_number_is_written_out():
    """With a note; without a topology there is no number, so nothing may be written."""
    found = constraint({MODE: "hard"})
    assert found.topology == NetworkTopology(mode="hard", highest_tier_allowed=2)
    assert [problem.cost for problem in found.problems] == [Cost.PART]
    refused = constraint({MODE: "hard"}, topology=None)
    assert [problem.cost for problem in refused.problems] == [Cost.EVERYTHING]


@pytest.mark.parametrize("mode", ["hard", "soft"])
@pytest.mark.parametrize(
    ("tier", "topology", "reason"),
    [
        ("row", TOPOLOGY, Reason.TIER_NOT_FOUND),
        ("rack", None, Reason.TIER_NOT_FOUND),
        ("0", TOPOLOGY, Reason.INVALID_ANNOTATION),
    ],
)
def test_a_tier_that_is_not_there_costs_everything_when_hard_and_itself_when_soft(mode, tier, topology, reason):
    """A hard constraint left out would be a promise broken."""
    found = constraint({MODE: mode, TIER: tier}, topology)
    (problem,) = found.problems
    assert found.topology is None
    assert problem.reason is reason
    assert problem.cost is (Cost.EVERYTHING if mode == "hard" else Cost.PART)
    assert tier in problem.message


def test_a_number_above_the_top_is_written_and_remarked_on():
    """It is what was asked for, and constrains less than it looks."""
    found = constraint({MODE: "hard", TIER: "9"})
    assert found.topology == NetworkTopology(mode="hard", highest_tier_allowed=9)
    assert [problem.reason for problem in found.problems] == [Reason.TIER_NOT_FOUND]


def test_an_unknown_mode_may_have_been_meant_as_hard():
    """So nothing is written."""
    (problem,) = constraint({MODE: "Hard"}).problems
    assert (problem.reason, problem.cost) == (Reason.INVALID_ANNOTATION, Cost.EVERYTHING)


@pytest.mark.parametrize(("mode", "cost"), [("hard", Cost.EVERYTHING), ("soft", Cost.PART)])
def test_an_old_crd_cannot_keep_a_hard_promise(mode, cost):
    """Soft is left out."""
    found = constraint({MODE: mode, TIER: "1"}, network_topology=False)
    assert found.topology is None
    assert [(problem.reason, problem.cost) for problem in found.problems] == [(Reason.UNSUPPORTED_BY_VOLCANO, cost)]


def test_a_scheduler_that_would_ignore_it_is_named():
    """It is written all the same, for the day on which it does not."""
    found = constraint({MODE: "hard", TIER: "1"}, topology_ignored="the plugin is off")
    assert found.topology is not None
    assert [problem.message for problem in found.problems] == ["the plugin is off"]


@pytest.mark.parametrize(("mode", "cost"), [("hard", Cost.EVERYTHING), ("soft", Cost.PART)])
def test_beside_another_planner_no_second_choice_is_written(mode, cost):
    """Kueue's annotations on a pod template."""
    groups = group_template(4, template({"kueue.x-k8s.io/podset-required-topology": "rack"}))
    found = constraint({MODE: mode, TIER: "1"}, groups=groups)
    assert found.topology is None
    assert [(problem.reason, problem.cost) for problem in found.problems] == [(Reason.TWO_TOPOLOGY_PLANNERS, cost)]


def test_scope_workers_moves_the_constraint_into_a_policy_of_the_workers():
    """With a match label key, because a policy without one never starts."""
    found = constraint({TIER: "1", SCOPE: "workers"})
    (policy,), problems = sub_groups(parsed(group_template()), found, supported=True)
    assert problems == ()
    assert policy.manifest() == {
        "name": "workers",
        "labelSelector": {"matchExpressions": [{"key": names.WORKER_INDEX, "operator": "NotIn", "values": ["0"]}]},
        "matchLabelKeys": [names.GROUP_KEY],
        "subGroupSize": 3,
        "minSubGroups": 1,
        "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    }


@pytest.mark.parametrize(("mode", "cost"), [("hard", Cost.EVERYTHING), ("soft", Cost.PART)])
def test_scope_workers_needs_a_crd_that_has_it(mode, cost):
    """Hard is refused, soft is left out."""
    found = constraint({MODE: mode, TIER: "1", SCOPE: "workers"})
    policies, problems = sub_groups(parsed(group_template()), found, supported=False)
    assert policies == ()
    assert [problem.cost for problem in problems] == [cost]


def test_scope_workers_wins_over_sub_groups():
    """A pod can be in one policy only; it is said."""
    found = constraint({TIER: "1", SCOPE: "workers"})
    groups = parsed(group_template(5, subGroupPolicy={"subGroupSize": 2}))
    policies, problems = sub_groups(groups, found, supported=True)
    assert [policy.name for policy in policies] == ["workers"]
    assert [problem.reason for problem in problems] == [Reason.INVALID_SUBGROUP]


def test_an_unknown_scope_is_the_group():
    """And reported."""
    found = constraint({TIER: "1", SCOPE: "all"})
    assert not found.workers_only
    assert [problem.reason for problem in found.problems] == [Reason.INVALID_ANNOTATION]
