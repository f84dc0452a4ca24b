"""Groups with bound members that are not filled up one by one: sub-groups, and many lost members.

Covers: highest tier, domains and fullness are the best there are for many lost members without sub-groups (the ring is
only improved, so it is not judged); plans with sub-groups are whole, fit and leave the counts as they were. Exactness
for few lost members is in `test_refill`.
"""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.anchored import Anchored
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand, SubGroups
from lws_volcano.placement.planner import plan_group
from lws_volcano.placement.refill import Refill
from lws_volcano.placement.region import Regions
from lws_volcano.placement.search import Found
from tests.unit.placement.builders import capacity, free_gpus, group, pod, shape
from tests.unit.placement.clusters import trees

RACKS = {"s1": {"r1": {f"a{i}": 1 for i in range(6)}, "r2": {f"b{i}": 1 for i in range(6)}}}


def bind(room: Capacity, bound: dict[int, str], gpus: int = 1) -> dict[int, str]:
    """Pods on these nodes."""
    room.feed(pods=[pod(f"p{rank}", name, gpus=gpus) for rank, name in bound.items()])
    return bound


def both(room: Capacity, demand: Demand, top: int, *, hard: bool) -> tuple[Refill, Found | None, Found | None]:
    """The search one by one, what it finds, and what the rules find."""
    tally, ring = room.tally(demand.leader, demand.worker), room.ring
    regions = Regions(tally, demand, top, hard=hard)
    refill = Refill(tally, demand, ring, regions)
    return refill, refill.best(), Anchored(tally, demand, ring, regions).best()


@given(tree=trees(), size=st.integers(2, 6), leader=st.integers(1, 2), top=st.integers(0, 2), data=st.data())
@settings(max_examples=300, deadline=None)
def test_rules_use_no_more_domains_than_the_best(
    tree: dict[str, Any], size: int, leader: int, top: int, data: st.DataObject
) -> None:
    """Feasible together; equal highest tier, domains and fullness, hard and soft."""
    room, free = capacity(tree, levels=2), free_gpus(tree)
    bound: dict[int, str] = {}
    for rank in sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size - 1))):
        roomy = [name for name, left in free.items() if left >= (1 if rank else leader)]
        if roomy:
            bound[rank] = data.draw(st.sampled_from(roomy))
            free[bound[rank]] -= 1 if rank else leader
            room.bind(pod(f"p{rank}", bound[rank], gpus=1 if rank else leader))
    if not bound:
        return
    demand = group(size, shape(1), shape(leader), bound=bound)
    refill, best, found = both(room, demand, min(top, 1), hard=top < 2)
    assert (best is None) == (found is None)
    if best is not None and found is not None and best.exact:
        assert refill.worth(found)[:2] == refill.worth(best)[:2]
        assert refill.worth(found)[2] >= refill.worth(best)[2]


@given(
    tree=trees(),
    size=st.integers(1, 2),
    count=st.integers(2, 3),
    inside=st.booleans(),
    hard=st.booleans(),
    data=st.data(),
)
@settings(max_examples=300, deadline=None)
def test_sub_groups_are_filled_up_whole(  # noqa: PLR0917 - one case
    tree: dict[str, Any], size: int, count: int, inside: bool, hard: bool, data: st.DataObject
) -> None:
    """Nothing is overcommitted, bound members stay, and the counts are as before."""
    room, free = capacity(tree, levels=2), free_gpus(tree)
    total = size * count + 1
    bound: dict[int, str] = {}
    for rank in sorted(data.draw(st.sets(st.integers(0, total - 1), min_size=1, max_size=total - 1))):
        roomy = [name for name, left in free.items() if left]
        if roomy:
            bound[rank] = data.draw(st.sampled_from(roomy))
            free[bound[rank]] -= 1
    if not bound:
        return
    bind(room, bound)
    rules: dict[str, Any] = {"mode": "hard", "highest_tier": 2} if hard else {"mode": "soft"}
    sub = SubGroups(size, count, size, leader_inside=inside)
    before = list(room.tally(shape(1), shape(1)).pairs)
    plan = plan_group(group(total, shape(1), bound=bound, sub_groups=sub, sub_group_tier=1, **rules), room)
    assert room.tally(shape(1), shape(1)).pairs == before
    if not plan.feasible:
        assert hard or sum(free.values()) < total - len(bound)
        return
    assert bound.items() <= plan.nodes.items()
    added = Counter(name for rank, name in plan.nodes.items() if rank not in bound)
    assert all(free[name] >= pods for name, pods in added.items())
    if hard:
        assert len({one.path[0] for one in plan.pods}) == 1


def test_a_fresh_sub_group_stays_whole_in_another_rack() -> None:
    """Five of the first sub-group are bound in r1; the one free node there does not tempt the second apart."""
    room = capacity(RACKS)
    bound = bind(room, {rank: f"a{rank}" for rank in range(5)})
    sub = SubGroups(4, 2, 4, leader_inside=True)
    plan = plan_group(group(9, shape(1), bound=bound, sub_groups=sub, sub_group_tier=1), room)
    assert {plan.nodes[rank][0] for rank in range(5, 9)} == {"b"}


def test_the_lost_of_a_sub_group_join_their_own() -> None:
    """Sub-group 0 sits in r1, sub-group 1 in r2: each gets its lost member back there."""
    room = capacity(RACKS)
    sub = SubGroups(2, 2, 2, leader_inside=True)
    bound = bind(room, {0: "a0", 1: "a1", 3: "b0"})
    plan = plan_group(group(5, shape(1), bound=bound, sub_groups=sub, sub_group_tier=1), room)
    assert plan.nodes[2][0] == "a"
    assert plan.nodes[4][0] == "b"


@pytest.mark.parametrize("scope", ["group", "workers"])
def test_many_workers_come_to_their_leader(scope: Any) -> None:
    """A leader that came first on a1, sixteen workers: they share its rack where it takes all of them."""
    tree = {"s1": {"r1": {f"a{i}": 4 for i in range(5)}, "r2": {f"b{i}": 4 for i in range(4)}}}
    room = capacity(tree)
    bound = bind(room, {0: "a1"})
    plan = plan_group(group(17, shape(1), bound=bound, mode="hard", highest_tier=1, scope=scope), room)
    assert {name[0] for name in plan.nodes.values()} == {"a"}
    assert plan.quality is not None
    assert plan.quality.domains == {"rack": 1, "spine": 1}
    assert plan.quality.at_least == {"rack": 1, "spine": 1}


def test_many_workers_leave_a_leader_whose_rack_is_too_small() -> None:
    """Scope workers: sixteen fit in r2 only; scope group: nowhere."""
    room = capacity({"s1": {"r1": {"a0": 4}, "r2": {f"b{i}": 4 for i in range(4)}}})
    bound = bind(room, {0: "a0"})
    plan = plan_group(group(17, shape(1), bound=bound, mode="hard", highest_tier=1, scope="workers"), room)
    assert {plan.nodes[rank][0] for rank in range(1, 17)} == {"b"}
    assert not plan_group(group(17, shape(1), bound=bound, mode="hard", highest_tier=1), room).feasible
