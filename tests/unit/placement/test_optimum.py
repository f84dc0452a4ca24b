"""The planner against all placements there are, on small random clusters.

Covers the whole order of what is best for unbound groups: highest tier, domains at each tier, fullness, ring cost;
leaders that differ from their workers; nodes above the lowest tier; several trees. Sub-groups, bound members and
exclusive domains have their own files.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.planner import plan_group
from tests.unit.placement import brute
from tests.unit.placement.builders import capacity, free_gpus, group, shape

GPUS = st.integers(0, 4)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """One to two spines of racks of nodes, sometimes a node straight on a spine; 3 to 7 nodes."""
    tree: dict[str, Any] = {}
    number = 0
    for spine in range(draw(st.integers(1, 2))):
        inside: dict[str, Any] = {}
        for rack in range(draw(st.integers(1, 2))):
            nodes = {f"n{number + i}": draw(GPUS) for i in range(draw(st.integers(1, 3)))}
            number += len(nodes)
            inside[f"r{spine}{rack}"] = nodes
        if draw(st.booleans()) and number < 7:
            inside[f"n{number}"] = draw(GPUS)
            number += 1
        tree[f"s{spine}"] = inside
        if number > 5:
            break
    return tree


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
