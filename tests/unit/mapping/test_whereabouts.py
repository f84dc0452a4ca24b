"""Where a group really sits: tiers, ring, hint followed or not, hard wishes that were broken.

Left out: the metrics made of it (tests/unit/controller).
"""

import json

import pytest

from lws_volcano.api.names import PLACED, PLAN, Reason
from lws_volcano.mapping.changes import ApplyPodGroup
from lws_volcano.mapping.placed import placed_annotation
from lws_volcano.mapping.plan import plan_lws
from lws_volcano.placement.node_lists import fold
from lws_volcano.topology.build import build
from lws_volcano.topology.schema import ClusterTopology
from tests.unit.mapping.builders import HASH, group_template, lws, pod, pod_group, snapshot

TOPOLOGY = build(
    ClusterTopology.model_validate(
        {
            "metadata": {"name": "dc"},
            "spec": {
                "tiers": [{"name": "rack", "bandwidth": "50GB/s"}, {"name": "spine", "bandwidth": "25GB/s"}],
                "domains": [
                    {"name": "s1", "tier": "spine"},
                    {"name": "r1", "tier": "rack", "parent": "s1", "nodes": ["n1", "n2"]},
                    {"name": "r2", "tier": "rack", "parent": "s1", "nodes": ["n3", "n4"]},
                ],
            },
        }
    )
)
HARD = {"volcano.sh/network-topology-mode": "hard", "volcano.sh/network-topology-highest-tier": "rack"}


def plan(*nodes, annotations=None, planned=(), topology=TOPOLOGY):
    """Plan of a set with one group of two, its pods on these nodes."""
    owner = lws(annotations={"lws-volcano.io/gang": "true", **(annotations or {})}, groups=group_template(size=2))
    note = {
        "feasible": True,
        "domain": {"name": "r1"},
        "pods": [{"node": node} for node in planned],
        "alternatives": [{"domain": "r1", "nodes": fold(planned)}],
    }
    pods = [pod("0", rank, node=node) for rank, node in enumerate(nodes)]
    observed = pod_group(owner=owner, metadata={"annotations": {PLAN: json.dumps(note)} if planned else {}})
    assert observed.name.endswith(HASH)
    return plan_lws(snapshot(owner, pods, pod_groups=(observed,), topology=topology))


@pytest.mark.parametrize(
    ("nodes", "domain", "tier", "cost"),
    [
        (("n1", "n1"), "r1", 0, 0.0),
        (("n1", "n2"), "r1", 1, 0.04),
        (("n1", "n3"), "s1", 2, 0.08),
        (("n1", "elsewhere"), "", 3, 0.08),
    ],
)
def test_domain_tier_and_ring(nodes, domain, tier, cost):
    """The lowest domain that holds all, and what the ring costs there."""
    (row,) = plan(*nodes).groups
    assert (row.where.domain, row.where.tier, row.where.ring_cost) == (domain, tier, pytest.approx(cost))
    assert row.where.followed is None


def test_nothing_is_said_of_a_group_that_is_not_whole_or_without_a_topology():
    """Numbers of half a group would mean nothing."""
    assert plan("n1", "").groups[0].where is None
    assert plan("n1", "n2", topology=None).groups[0].where is None


def test_whether_the_hint_was_followed():
    """By every rank, or not."""
    assert plan("n1", "n2", planned=("n1", "n2")).groups[0].where.followed is True
    where = plan("n1", "n3", planned=("n1", "n2")).groups[0].where
    assert (where.followed, where.planned_cost) == (False, pytest.approx(0.04))


def test_the_pod_group_says_what_happened_only_where_it_is_not_as_planned():
    """No write in the normal case; else where the group sits, what its ring costs, and what was planned."""
    (write,) = [one for one in plan("n1", "n3", planned=("n1", "n2")).changes if isinstance(one, ApplyPodGroup)]
    said = json.loads(write.manifest["metadata"]["annotations"][PLACED])
    assert said == {"domain": "s1", "tier": 2, "ringCost": 0.08, "plannedRingCost": 0.04, "followed": False}
    as_planned = plan("n1", "n2", planned=("n1", "n2")).groups[0].where
    assert placed_annotation({PLACED: "old"}, as_planned, same_plan=True) == {}
    unplanned = plan("n1", "n3").groups[0].where
    assert placed_annotation({}, unplanned, same_plan=True) == {}


def test_the_word_stays_while_a_member_is_missing_and_goes_with_the_plan():
    """A lost member costs no write; a group that is made anew has another plan, which is written anyway."""
    assert placed_annotation({PLACED: "old"}, None, same_plan=True) == {PLACED: "old"}
    assert placed_annotation({PLACED: "old"}, None, same_plan=False) == {}
    assert placed_annotation({}, None, same_plan=True) == {}


def test_a_broken_hard_wish_is_said():
    """Wider than asked for; as soon as two pods sit so, whole or not."""
    reasons = {notice.reason: notice.message for notice in plan("n1", "n3", annotations=HARD).notices}
    assert "tier 2" in reasons[Reason.TOPOLOGY_VIOLATED]
    assert not [n for n in plan("n1", "n2", annotations=HARD).notices if n.reason is Reason.TOPOLOGY_VIOLATED]
    workers = {**HARD, "lws-volcano.io/topology-scope": "workers"}
    assert not [n for n in plan("n1", "n3", annotations=workers).notices if n.reason is Reason.TOPOLOGY_VIOLATED]
