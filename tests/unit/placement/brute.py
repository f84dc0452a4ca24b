"""The best placement found by trying all of them: the judge of the planner on small clusters.

Nothing of the planner is used, only the tree itself.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import permutations, product

from lws_volcano.topology.model import Topology

Split = tuple[dict[str, int], str]
"""Workers by node, and the leader's node."""
Best = tuple[int, tuple[int, ...], tuple[int, ...], Fraction]
"""Highest tier, domains by tier from the highest, fullness, ring cost: less is better."""


def splits(free: Mapping[str, int], leader: int, worker: int, workers: int) -> Iterator[Split]:
    """All ways to put a leader and workers on the nodes, each pod whole."""
    for home in free:
        if free[home] < leader:
            continue
        room = {name: (gpus - (leader if name == home else 0)) // worker for name, gpus in free.items()}
        for counts in _counts(list(room.items()), workers):
            yield counts, home


def _counts(room: list[tuple[str, int]], workers: int) -> Iterator[dict[str, int]]:
    if not room:
        if workers == 0:
            yield {}
        return
    (name, most), *rest = room
    for count in range(min(most, workers) + 1):
        for others in _counts(rest, workers - count):
            yield {name: count, **others} if count else others


def chain(topology: Topology, name: str) -> list[tuple[int, str]]:
    """(tier, domain) above a node, one per tier of the topology; missing ones are the node's own."""
    place = topology.place_of.get(name)
    above = [] if place is None else topology.ancestors(topology.domain_of[place])
    real = {topology.domains[i].tier: topology.domains[i].name for i in above}
    found: list[tuple[int, str]] = []
    below = f"node:{name}"
    for tier in topology.tiers:
        below = real.get(tier.number, below)
        found.append((tier.number, below))
    return found


def highest(topology: Topology, nodes: set[str]) -> int:
    """Tier of the lowest common domain."""
    if len(nodes) == 1:
        return 0
    chains = [chain(topology, name) for name in nodes]
    for level, tier in enumerate(topology.tiers):
        if len({one[level] for one in chains}) == 1:
            return tier.number
    return topology.tiers[-1].number + 1


def domains(topology: Topology, nodes: set[str]) -> tuple[int, ...]:
    """Distinct domains a tier, from the highest to the lowest."""
    chains = [chain(topology, name) for name in nodes]
    return tuple(len({one[level] for one in chains}) for level in reversed(range(len(topology.tiers))))


def fullness(topology: Topology, nodes: set[str], slots: Mapping[str, int]) -> tuple[int, ...]:
    """Free worker slots of the domains used, from the lowest common one down; for one node: rack, then node."""
    if len(nodes) == 1:
        name = next(iter(nodes))
        return _free(topology, {chain(topology, name)[0]}, slots), slots[name]
    top = highest(topology, nodes)
    levels = [level for level, tier in enumerate(topology.tiers) if tier.number <= top]
    return tuple(_free(topology, {chain(topology, n)[level] for n in nodes}, slots) for level in reversed(levels))


def _free(topology: Topology, used: set[tuple[int, str]], slots: Mapping[str, int]) -> int:
    return sum(count for name, count in slots.items() if used & set(chain(topology, name)))


def ring(topology: Topology, nodes: list[str]) -> Fraction:
    """Ring cost of nodes by rank."""
    total = Fraction(0)
    for left, right in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
        if left != right:
            total += 1 / _bandwidth(topology, left, right)
    return total


def _bandwidth(topology: Topology, left: str, right: str) -> Fraction:
    if left in topology.place_of and right in topology.place_of:
        return topology.bandwidth_between(topology.place_of[left], topology.place_of[right])
    return topology.across_bandwidth


def best_ring(topology: Topology, split: Split) -> Fraction:
    """Least ring cost over all orders of the ranks."""
    counts, home = split
    pods = [name for name, count in counts.items() for _ in range(count)]
    return min(ring(topology, [home, *order]) for order in set(permutations(pods)))


def nodes_of(split: Split) -> set[str]:
    """Nodes in use."""
    return {*split[0], split[1]}


def best(  # noqa: PLR0917 - the numbers of one case
    topology: Topology, free: Mapping[str, int], leader: int, worker: int, workers: int, tier: int | None = None
) -> Best | None:
    """Highest tier, domains, fullness and ring cost of the best placement within the tier; None when nothing fits."""
    slots = {name: gpus // worker for name, gpus in free.items()}
    keyed: dict[tuple[int, tuple[int, ...], tuple[int, ...]], list[Split]] = {}
    for split in splits(free, leader, worker, workers):
        nodes = nodes_of(split)
        top = highest(topology, nodes)
        if tier is None or top <= tier:
            key = top, domains(topology, nodes), fullness(topology, nodes, slots)
            keyed.setdefault(key, []).append(split)
    if not keyed:
        return None
    key = min(keyed)
    return *key, min(best_ring(topology, split) for split in keyed[key])


def key_of(topology: Topology, nodes: list[str], slots: dict[str, int]) -> Best:
    """What decides between two placements, best first, but for the name."""
    used = set(nodes)
    return (
        highest(topology, used),
        domains(topology, used),
        fullness(topology, used, slots),
        ring(topology, nodes),
    )


def all_ways(free: dict[str, int], gpus: dict[int, int], bound: dict[int, str], size: int) -> list[list[str]]:
    """Nodes by rank, for every way to give the lost ranks a node."""
    lost = [rank for rank in range(size) if rank not in bound]
    found = []
    for chosen in product(free, repeat=len(lost)):
        at = {**bound, **dict(zip(lost, chosen, strict=True))}
        taken = Counter[str]()
        for rank in lost:
            taken[at[rank]] += gpus[rank]
        if all(taken[name] <= free[name] for name in taken):
            found.append([at[rank] for rank in range(size)])
    return found


def keeps(topology: Topology, nodes: list[str], bound: dict[int, str], tier: int, scope: str) -> bool:
    """The hard rule holds: all in one domain; on a node without one only beside a member that is there already."""
    first = 0 if scope == "group" else 1
    held = set(nodes[first:])
    there = {node for rank, node in bound.items() if rank >= first}
    return highest(topology, held) <= tier and all(node in topology.place_of for node in held - there)
