"""What holds for every plan, whatever the cluster and the group: hypothesis.

Covers: no node is overcommitted, never half a group, rules are kept, the same input gives the same plan in any order
of nodes and pods, more room never makes a plan worse. That plans are the best there are is in `test_optimum`.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand, SubGroups
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.plan_format import group_entry
from lws_volcano.placement.planner import plan_group, plan_groups
from tests.unit.placement.builders import capacity, free_gpus, group, node, pod, shape, topology

MANY = settings(max_examples=100, deadline=None)


@st.composite
def clusters(draw: st.DrawFn) -> dict[str, Any]:
    """Up to three cores of spines of racks of nodes."""
    number = iter(range(1000))
    return {
        f"c{core}": {
            f"s{core}{spine}": {
                f"r{core}{spine}{rack}": {
                    f"n{next(number):03d}": draw(st.integers(0, 8)) for _ in range(draw(st.integers(1, 4)))
                }
                for rack in range(draw(st.integers(1, 3)))
            }
            for spine in range(draw(st.integers(1, 2)))
        }
        for core in range(draw(st.integers(1, 2)))
    }


@st.composite
def demands(draw: st.DrawFn, name: str = "demo") -> Demand:
    """Groups with and without a limit, sub-groups, a different leader."""
    mode = draw(st.sampled_from(["hard", "soft", "none"]))
    workers = draw(st.integers(0, 9))
    sub = draw(st.sampled_from([None, 2, 3]))
    rules: dict[str, Any] = {"mode": mode, "scope": draw(st.sampled_from(["group", "workers"]))}
    if mode == "hard":
        rules["highest_tier"] = draw(st.integers(1, 3))
    if sub and workers and workers % sub == 0:
        inside = draw(st.booleans())
        rules["sub_groups"] = SubGroups(sub, workers // sub, sub, leader_inside=inside)
        rules["sub_group_tier"] = draw(st.sampled_from([None, 1, 2]))
    worker = shape(draw(st.integers(1, 4)))
    leader = draw(st.sampled_from([worker, shape(0), shape(2), shape(8)]))
    return group(workers + 1, worker, leader, name=name, **rules)


def gpus(demand: Demand, rank: int) -> int:
    """GPUs that a rank asks for."""
    return sum(nano for _, nano in demand.shape(rank).requests) // 10**9


def check(plan: GroupPlan, room: Capacity, free: dict[str, int]) -> None:
    """A plan is whole, keeps its rules and takes from `free` no more than there is."""
    demand = plan.demand
    if not plan.feasible:
        assert not plan.pods
        assert plan.reason
        return
    assert [p.rank for p in plan.pods] == list(range(demand.size))
    for planned in plan.pods:
        free[planned.node] -= gpus(demand, planned.rank)
    assert min(free.values()) >= 0
    assert plan.quality is not None
    assert plan.quality.highest_tier is not None
    if demand.rules.mode == "hard" and demand.rules.scope == "group":
        assert plan.quality.highest_tier <= (demand.rules.highest_tier or 3)
    for alternative in plan.alternatives:
        assert len(alternative.nodes) == demand.size
    assert plan.alternatives[0].nodes == tuple(p.node for p in plan.pods)
    check_parts(plan, room)


def check_parts(plan: GroupPlan, room: Capacity) -> None:
    """Workers and sub-groups that must stay together do."""
    demand, forest = plan.demand, room.forest
    assert forest.topology is not None

    def tier(ranks: list[int]) -> int:
        places = [forest.place(plan.nodes[rank]) for rank in ranks]
        domain = forest.common(places)
        return 0 if len(set(places)) == 1 else 99 if domain < 0 else forest.domains[domain].tier

    if demand.rules.mode == "hard" and demand.workers:
        assert tier(list(range(1, demand.size))) <= (demand.rules.highest_tier or 3)
    sub, limit = demand.split, demand.rules.sub_group_tier
    if sub is not None and limit is not None and demand.rules.mode != "hard":
        for index in range(sub.count):
            assert tier([rank for rank in range(demand.size) if sub.index(rank) == index]) <= limit


@given(tree=clusters(), demand=demands())
@MANY
def test_one_plan_is_whole_and_fits(tree: dict[str, Any], demand: Demand) -> None:
    """All ranks, each on a node with room, inside the allowed tier; alternatives fit as well."""
    room = capacity(tree)
    plan = plan_group(demand, room)
    check(plan, room, free_gpus(tree))
    for alternative in plan.alternatives:
        free = free_gpus(tree)
        for rank, name in enumerate(alternative.nodes):
            free[name] -= gpus(demand, rank)
        assert min(free.values()) >= 0


@given(tree=clusters(), first=demands("a"), second=demands("b"), third=demands("c"))
@MANY
def test_several_groups_share_what_there_is(tree: dict[str, Any], first: Demand, second: Demand, third: Demand) -> None:
    """Together they take no more than there is, and planning leaves the capacity as it was."""
    room = capacity(tree)
    free = free_gpus(tree)
    plans = plan_groups([first, second, third], room)
    for plan in plans:
        check(plan, room, free)
    again = plan_groups([first, second, third], room)
    assert [group_entry(plan) for plan in again] == [group_entry(plan) for plan in plans]


@given(tree=clusters(), demand=demands(), data=st.data())
@MANY
def test_order_of_input_does_not_matter(tree: dict[str, Any], demand: Demand, data: st.DataObject) -> None:
    """Nodes and pods in another order give the same plan."""
    sizes = free_gpus(tree)
    taken = [pod(f"p{i}", name, 1) for i, name in enumerate(sizes) if sizes[name]]
    nodes = [node(name, size) for name, size in sizes.items()]
    one = Capacity(topology(tree)).feed(nodes, taken)
    other = Capacity(topology(tree)).feed(data.draw(st.permutations(nodes)), data.draw(st.permutations(taken)))
    assert group_entry(plan_group(demand, one)) == group_entry(plan_group(demand, other))


@given(tree=clusters(), demand=demands(), data=st.data())
@MANY
def test_more_room_is_never_worse(tree: dict[str, Any], demand: Demand, data: st.DataObject) -> None:
    """One more GPU somewhere: still feasible, no higher tier, and no more domains at it.

    Ring cost may rise: a domain that became emptier loses its claim to be the fullest (CONTRACTS.md section 4).
    """
    room = capacity(tree)
    before = plan_group(demand, room)
    name = data.draw(st.sampled_from(sorted(free_gpus(tree))))
    room.upsert_node(node(name, free_gpus(tree)[name] + 1))
    after = plan_group(demand, room)
    if not before.feasible:
        return
    assert after.feasible
    assert before.quality is not None
    assert after.quality is not None
    assert before.quality.highest_tier is not None
    assert after.quality.highest_tier is not None
    assert after.quality.highest_tier <= before.quality.highest_tier
    if (
        after.quality.highest_tier == before.quality.highest_tier
        and demand.split is None
        and demand.rules.scope == "group"
    ):
        assert list(after.quality.domains.values())[::-1] <= list(before.quality.domains.values())[::-1]


@given(tree=clusters(), demand=demands(), data=st.data())
@MANY
def test_changes_one_by_one_count_like_a_fresh_start(tree: dict[str, Any], demand: Demand, data: st.DataObject) -> None:
    """After any sequence of changes the counts are those of a capacity made from the final state."""
    room = capacity(tree)
    names = sorted(free_gpus(tree))
    alive: dict[str, Any] = {}
    sizes = free_gpus(tree)
    for step in range(data.draw(st.integers(1, 8))):
        room.tally(demand.leader, demand.worker)
        name = data.draw(st.sampled_from(names))
        match data.draw(st.sampled_from(["pod", "gone", "node", "lost"])):
            case "pod":
                alive[f"uid-p{step}"] = pod(f"p{step}", name, 1)
                room.bind(alive[f"uid-p{step}"])
            case "gone" if alive:
                uid = data.draw(st.sampled_from(sorted(alive)))
                del alive[uid]
                room.unbind(uid)
            case "node":
                sizes[name] = data.draw(st.integers(0, 8))
                room.upsert_node(node(name, sizes[name]))
            case "lost":
                sizes.pop(name, None)
                room.remove_node(name)
    fresh = Capacity(topology(tree)).feed((node(n, s) for n, s in sizes.items()), alive.values())
    kept, made = room.tally(demand.leader, demand.worker), fresh.tally(demand.leader, demand.worker)
    assert (kept.pairs, kept.free, kept.loss, kept.best) == (made.pairs, made.free, made.loss, made.best)
    assert (kept.classes, kept.order, kept.ceiling) == (made.classes, made.order, made.ceiling)


@given(tree=clusters(), demand=demands(), data=st.data())
@MANY
def test_bound_members_keep_their_nodes(tree: dict[str, Any], demand: Demand, data: st.DataObject) -> None:
    """Some ranks lose their node: the others stay, the rest fits into what is free."""
    room = capacity(tree)
    plan = plan_group(demand, room)
    if not plan.feasible:
        return
    lost = data.draw(st.sets(st.integers(0, demand.size - 1), min_size=1, max_size=demand.size))
    bound = {rank: name for rank, name in plan.nodes.items() if rank not in lost}
    free = free_gpus(tree)
    for rank, name in bound.items():
        free[name] -= gpus(demand, rank)
        room.bind(pod(f"m{rank}", name, gpus(demand, rank)))
    rules = {name: getattr(demand.rules, name) for name in ("mode", "highest_tier", "scope", "sub_groups")}
    again = plan_group(group(demand.size, demand.worker, demand.leader, bound=bound, **rules), room)
    assert again.feasible, again.reason
    for planned in again.pods:
        assert planned.bound == (planned.rank in bound)
        if planned.bound:
            assert planned.node == bound[planned.rank]
        else:
            free[planned.node] -= gpus(demand, planned.rank)
    assert min(free.values()) >= 0
