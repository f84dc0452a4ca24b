"""Groups that need nodes without a domain, against all placements there are, on small random clusters.

Covers unbound groups without a hard rule: domains, fullness and ring once no domain holds the group, and which kind of
node is looked at first. Also the budget: many such nodes and a large group. Bound members are in `test_refill`.
"""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lws_volcano.placement.planner import plan_group
from tests.unit.placement import brute
from tests.unit.placement.brute import all_ways, key_of
from tests.unit.placement.builders import capacity, free_gpus, group, shape
from tests.unit.placement.clusters import trees


def kind(way: list[str], strangers: dict[str, int]) -> int:
    """One node without a domain, several trees, anything: in this order."""
    without = [node for node in way if node in strangers]
    return 0 if without and len(set(way)) == 1 else 2 if without else 1


@given(
    tree=trees(),
    size=st.integers(2, 4),
    leader=st.integers(1, 3),
    worker=st.integers(1, 2),
    loose=st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
@settings(max_examples=120, deadline=None)
def test_nodes_without_a_domain_are_chosen_as_well_as_any(
    tree: dict[str, Any], size: int, leader: int, worker: int, loose: list[int]
) -> None:
    """Where no domain holds the group: fewest domains, then the fullest nodes, then the ring."""
    strangers = {f"x{i}": gpus for i, gpus in enumerate(loose)}
    free = {**free_gpus(tree), **strangers}
    room = capacity(tree, strangers, levels=2)
    topology = room.topology
    assert topology is not None
    ways = all_ways(free, {rank: worker if rank else leader for rank in range(size)}, {}, size)
    across = topology.tiers[-1].number + 1
    assume(not any(set(way) <= topology.place_of.keys() and brute.highest(topology, set(way)) < across for way in ways))
    plan = plan_group(group(size, shape(worker), shape(leader), mode="soft"), room)
    assert plan.feasible == bool(ways), plan.reason
    if ways:
        slots = {name: gpus // worker for name, gpus in free.items()}
        first = min(kind(way, strangers) for way in ways)
        best = min(key_of(topology, way, slots) for way in ways if kind(way, strangers) == first)
        nodes = [pod.node for pod in plan.pods]
        assert kind(nodes, strangers) == first
        assert key_of(topology, nodes, slots) == best


def test_a_small_node_is_used_where_one_suffices() -> None:
    """The last worker goes to the node with one slot, not to the roomy one that the leader could use."""
    room = capacity({"s0": {"r0": {"n0": 1, "n1": 3}}}, {"x0": 0, "x1": 1, "x2": 3}, levels=2)
    plan = plan_group(group(4, shape(1), shape(2), mode="soft"), room)
    assert {"x1"} == {node for node in plan.nodes.values() if node.startswith("x")}


def test_past_the_budget_the_plan_says_so() -> None:
    """A thousand pods over hundreds of uneven nodes: placed, not claimed to be the best, bounded from below."""
    loose = {f"x{i:03}": i % 9 for i in range(400)}
    plan = plan_group(
        group(1000, shape(1), shape(8), mode="soft"), capacity({"s0": {"r0": {"n0": 1}}}, loose, levels=2)
    )
    assert plan.feasible
    assert plan.quality is not None
    assert not plan.quality.exact
    assert all(plan.quality.at_least[tier] <= used for tier, used in plan.quality.domains.items())
