"""Groups that lost some of their members, against all ways to make them whole again, on small random clusters.

Covers the whole order of what is best: highest tier, domains at each tier, fullness, ring cost; leader or workers lost;
scope group and workers, hard and soft; several pods a node; nodes above the lowest tier and without a domain. Leaves
out sub-groups.
"""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lws_volcano.placement.planner import plan_group
from tests.unit.placement.brute import all_ways, keeps, key_of
from tests.unit.placement.builders import capacity, free_gpus, group, pod, shape
from tests.unit.placement.clusters import trees, wide_trees


@given(
    tree=st.one_of(trees(), wide_trees()),
    size=st.integers(2, 5),
    leader=st.integers(1, 3),
    worker=st.integers(1, 2),
    loose=st.lists(st.integers(0, 3), max_size=2),
    tier=st.integers(1, 3),
    scope=st.sampled_from(["group", "workers"]),
    data=st.data(),
)
@settings(max_examples=500, deadline=None)
def test_the_lost_go_where_it_is_best(  # noqa: PLR0917 - one case
    tree: dict[str, Any],
    size: int,
    leader: int,
    worker: int,
    loose: list[int],
    tier: int,
    scope: Any,
    data: st.DataObject,
) -> None:
    """Feasible exactly when some way is, and none is better than the one planned."""
    strangers = {f"x{i}": gpus for i, gpus in enumerate(loose)}
    free = {**free_gpus(tree), **strangers}
    room = capacity(tree, strangers, levels=2)
    topology = room.topology
    assert topology is not None
    gpus = {rank: worker if rank else leader for rank in range(size)}
    lost = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=min(4, size - 1)))
    bound: dict[int, str] = {}
    for rank in sorted(set(range(size)) - lost):
        roomy = [name for name, left in free.items() if left >= gpus[rank]]
        assume(roomy)
        bound[rank] = data.draw(st.sampled_from(roomy))
        free[bound[rank]] -= gpus[rank]
        room.bind(pod(f"p{rank}", bound[rank], gpus=gpus[rank]))
    rules: dict[str, Any] = {"mode": "hard", "highest_tier": tier} if tier < 3 else {"mode": "soft"}
    plan = plan_group(group(size, shape(worker), shape(leader), bound=bound, scope=scope, **rules), room)
    ways = all_ways(free, gpus, bound, size)
    allowed = [nodes for nodes in ways if tier == 3 or keeps(topology, nodes, bound, tier, scope)]
    assert plan.feasible == bool(allowed), plan.reason
    if not allowed:
        return
    slots = {name: left // worker for name, left in free.items()}
    nodes = [one.node for one in plan.pods]
    assert nodes in allowed
    assert plan.quality is not None
    assert plan.quality.exact
    assert key_of(topology, nodes, slots) == min(key_of(topology, way, slots) for way in allowed)
