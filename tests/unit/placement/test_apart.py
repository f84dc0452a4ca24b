"""Scope `workers` under a hard rule, against all placements there are, on small random clusters.

Covers unbound groups: the workers within the tier, the leader wherever it is best for the whole order (highest tier,
domains, fullness, ring), nodes above the lowest tier, leaders without a domain. Bound members are in `test_refill`.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.planner import plan_group
from tests.unit.placement.brute import all_ways, keeps, key_of
from tests.unit.placement.builders import capacity, free_gpus, group, shape
from tests.unit.placement.clusters import trees


@given(
    tree=trees(),
    size=st.integers(2, 4),
    leader=st.integers(1, 3),
    worker=st.integers(1, 2),
    loose=st.lists(st.integers(0, 3), max_size=2),
    tier=st.integers(1, 2),
)
@settings(max_examples=300, deadline=None)
def test_workers_keep_the_tier_and_the_leader_is_where_it_is_best(  # noqa: PLR0917 - one case
    tree: dict[str, Any], size: int, leader: int, worker: int, loose: list[int], tier: int
) -> None:
    """Feasible exactly when some way is; a leader goes to a node without a domain only when no other way is left."""
    strangers = {f"x{i}": gpus for i, gpus in enumerate(loose)}
    free = {**free_gpus(tree), **strangers}
    room = capacity(tree, strangers, levels=2)
    topology = room.topology
    assert topology is not None
    gpus = {rank: worker if rank else leader for rank in range(size)}
    allowed = [w for w in all_ways(free, gpus, {}, size) if keeps(topology, w, {}, tier, "workers")]
    demand = group(size, shape(worker), shape(leader), mode="hard", highest_tier=tier, scope="workers")
    plan = plan_group(demand, room)
    assert plan.feasible == bool(allowed), plan.reason
    if allowed:
        slots = {name: left // worker for name, left in free.items()}
        known = [way for way in allowed if way[0] not in strangers]
        nodes = [one.node for one in plan.pods]
        assert nodes in (known or allowed)
        assert key_of(topology, nodes, slots) == min(key_of(topology, way, slots) for way in known or allowed)
