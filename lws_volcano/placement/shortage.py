"""Why a group fits nowhere, in words that a person can act on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.exclusive import exclusive_choices
from lws_volcano.placement.room import Pair, Room
from lws_volcano.placement.shape import Shape
from lws_volcano.placement.tally import Tally

__all__ = ["obstacles", "shortage"]

_SAMPLE: Final = 256


def shortage(capacity: Capacity, tally: Tally, demand: Demand, top: int) -> str:
    """Reason for a group that cannot be placed whole.

    Parameters
    ----------
    top : int
        Highest allowed level.
    """
    if not capacity.node_names():
        return "there are no nodes"
    shut = _shut(capacity, tally, demand)
    if 0 not in demand.bound and not any(beside >= 0 for _, beside in tally.pairs):
        why = (obstacles(capacity.rooms, demand.leader), shut)
        return f"no node takes the {_leader(demand)}: {'; '.join(part for part in why if part)}"
    head = _exclusive(capacity, demand) or _largest(tally, demand, top) or _whole(tally, demand)
    blocked = obstacles(capacity.rooms, demand.worker, tally.pairs)
    scarce = _scarcest(capacity.rooms, demand.worker)
    return "; ".join(part for part in (head, scarce, blocked, shut) if part)


def _shut(capacity: Capacity, tally: Tally, demand: Demand) -> str:
    """Nodes with room that other groups have to themselves."""
    every = capacity.tally(demand.leader, demand.worker)
    if tally is every or demand.rules.exclusive_key or demand.rules.sub_group_exclusive_key:
        return ""
    count = sum(known != counted for known, counted in zip(every.pairs, tally.pairs, strict=True))
    return f"{count} nodes with room belong to groups of the namespace with exclusive topology" if count else ""


def _scarcest(rooms: Iterable[Room], shape: Shape) -> str:
    """What runs out first on most nodes that come into question (the first few hundred: it is a hint)."""
    able = islice((room for room in rooms if not room.why_not(shape)), _SAMPLE)
    limits = Counter(room.scarcest(shape) for room in able)
    most = min(limits.items(), key=lambda item: (-item[1], item[0]), default=None)
    return f"what runs out first is {most[0]}" if most else ""


def _leader(demand: Demand) -> str:
    return "leader" if demand.workers else "pod"


def _exclusive(capacity: Capacity, demand: Demand) -> str:
    key = demand.rules.exclusive_key or demand.rules.sub_group_exclusive_key
    if not key or exclusive_choices(capacity.rooms, demand, key):
        return ""
    return f"exclusive topology: no value of node label {key} is free of other groups"


def _largest(tally: Tally, demand: Demand, top: int) -> str:
    """The allowed domain that comes closest."""
    if not demand.rules.limited or top < 0 or demand.bound:
        return ""
    forest = tally.forest
    domains = [index for index in range(len(forest.domains)) if forest.level_of[index] <= top]
    if not domains:
        return ""
    best = max(domains, key=lambda index: (tally.largest(index), -index))
    domain, most = forest.domains[best], tally.largest(best)
    limit = forest.domains[max(domains, key=lambda index: (forest.level_of[index], -index))].tier_name
    if most >= demand.size:
        whole = f"{domain.tier_name} {domain.name} has room for {demand.size} pods but not with every sub-group whole"
        return f"{whole} in one domain of its tier"
    workers = f"a leader and {most - 1} of {demand.workers} workers" if most else "no leader"
    more = f"free room for {demand.size - most} more there, or allow a higher tier"
    return f"{demand.size} pods must share one {limit}: the roomiest, {domain.name}, takes {workers}; {more}"


def _whole(tally: Tally, demand: Demand) -> str:
    slots = sum(pair[0] for pair in tally.pairs)
    if demand.bound:
        missing = len(demand.missing())
        return f"{missing} of {demand.size} pods have no node, and the allowed domain around the others has no room"
    loss = min((pair[0] - pair[1] for pair in tally.pairs if pair[1] >= 0), default=0)
    most = max(slots - loss, 0)
    return f"the nodes take a leader and {min(most, demand.workers)} of {demand.workers} workers together"


def obstacles(rooms: Iterable[Room], shape: Shape, counted: Sequence[Pair] = ()) -> str:
    """How many nodes are out for a pod of this shape, by reason, the most frequent first.

    `counted` are the rooms' counts where they are known: a room that takes a worker needs no second look.
    """
    reasons: Counter[str] = Counter()
    total = 0
    for place, room in enumerate(rooms):
        if room.node is None:
            continue
        total += 1
        if counted and counted[place][0]:
            continue
        reason = room.why_not(shape) or _too_little(room, shape)
        if reason:
            reasons[reason] += 1
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r[0])))
    return f"of {total} nodes {listed}" if listed else ""


def _too_little(room: Room, shape: Shape) -> str:
    short = room.short_of(shape)
    return f"without enough {short}" if short else ""
