"""The planner against all placements there are, on small random clusters.

Covers the whole order of what is best for unbound groups: highest tier, domains at each tier, fullness, ring cost;
leaders that differ from their workers; nodes above the lowest tier; several trees. For sub-groups it
proves feasibility and tier. Bound members and exclusive domains are in `test_cases`.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.demand import SubGroups
from lws_volcano.placement.plan import PlannedPod
from lws_volcano.placement.planner import plan_group
from tests.unit.placement import brute
from tests.unit.placement.builders import capacity, free_gpus, group, shape
from tests.unit.placement.clusters import trees


@given(tree=trees(), size=st.integers(1, 5), leader=st.integers(1, 3), worker=st.integers(1, 2), tier=st.integers(1, 3))
@settings(max_examples=600, deadline=None)
def test_every_plan_is_the_best_there_is(tree: dict[str, Any], size: int, leader: int, worker: int, tier: int) -> None:
    """Highest tier, domains, fullness and ring cost are those of the best of all placements."""
    room = capacity(tree, levels=2)
    rules: dict[str, Any] = {"mode": "hard", "highest_tier": tier} if tier < 3 else {"mode": "soft"}
    demand = group(size, shape(worker), shape(leader), **rules)
    plan = plan_group(demand, room)
    topology = room.topology
    assert topology is not None
    worker = leader if size == 1 else worker
    wanted = brute.best(topology, free_gpus(tree), leader, worker, size - 1, None if tier == 3 else tier)
    assert plan.feasible == (wanted is not None), plan.reason
    if wanted is None:
        assert plan.reason
        assert not plan.pods
        return
    nodes = [pod.node for pod in plan.pods]
    slots = {name: gpus // worker for name, gpus in free_gpus(tree).items()}
    quality = plan.quality
    assert quality is not None
    assert quality.exact
    assert quality.highest_tier == wanted[0]
    assert tuple(reversed(quality.domains.values())) == wanted[1] == brute.domains(topology, set(nodes))
    assert brute.fullness(topology, set(nodes), slots) == wanted[2]
    assert brute.ring(topology, nodes) == wanted[3]
    assert quality.ring_cost == float(wanted[3])


@given(tree=trees(), size=st.integers(1, 3), count=st.integers(2, 3), joins=st.booleans())
@settings(max_examples=400, deadline=None)
def test_sub_groups_fit_whenever_some_split_does(tree: dict[str, Any], size: int, count: int, joins: bool) -> None:
    """Each in one rack: feasible exactly when it can be, at the lowest tier that allows it."""
    sub = SubGroups(size, count, size, leader_inside=joins)
    plan = plan_group(group(size * count + 1, mode="hard", sub_groups=sub, sub_group_tier=1), capacity(tree, levels=2))
    spines = [[_total(part) for part in spine.values()] for spine in tree.values()]
    whole = any(total > size * count for racks in spines for total in racks)
    split = any(_splits(racks, size, count, joins=joins) for racks in spines)
    assert plan.feasible == (whole or split)
    if plan.feasible:
        assert plan.quality is not None
        assert plan.quality.highest_tier is not None
        assert (plan.quality.highest_tier < 2) == whole
        for index in range(count):
            ranks = [rank for rank in range(1, size * count + 1) if sub.index(rank) == index]
            assert len({_rack(plan.pods[rank]) for rank in ranks}) == 1


def _rack(pod: PlannedPod) -> str:
    """Rack of a planned pod, or its node, which is alone in its missing one."""
    return pod.path[1] if len(pod.path) > 1 else pod.node


def _total(part: Any) -> int:
    """Free slots of a rack, or of a node that is alone in its missing one."""
    return sum(part.values()) if isinstance(part, dict) else part


def _splits(racks: list[int], size: int, count: int, *, joins: bool) -> bool:
    """The leader (with the first sub-group, if it joins) in some rack, the other sub-groups whole in what is left."""
    first = size + 1 if joins else 1
    others = count - 1 if joins else count
    for home, room in enumerate(racks):
        left = [free - (first if rack == home else 0) for rack, free in enumerate(racks)]
        if room >= first and sum(free // size for free in left) >= others:
            return True
    return False
