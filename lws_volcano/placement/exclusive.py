"""LWS exclusive topology: a group, or each of its sub-groups, has all nodes of one label value to itself.

The LeaderWorkerSet controller writes this as pod affinity and anti-affinity on the label `group-key`, within the
namespace; here it is a restriction of the nodes that a plan may use. It works both ways: a scheduler keeps every other
group of the namespace, exclusive or not, away from a leader that must be alone.
"""

from collections.abc import Mapping, Sequence

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.room import Room
from lws_volcano.placement.tally import Tally

__all__ = ["exclusive_choices", "level_of_label", "open_tally"]


def open_tally(capacity: Capacity, demand: Demand) -> Tally:
    """Free slots for the demand, but for the nodes that exclusive groups of its namespace have to themselves.

    Costs nothing without such groups, else O(nodes).
    """
    tally = capacity.tally(demand.leader, demand.worker)
    taken = _taken(capacity, demand)
    if not taken:
        return tally
    labels = {label for label, _ in taken}
    rooms = capacity.rooms
    return tally.only(p for p, room in enumerate(rooms) if not any((lb, _label(room, lb)) in taken for lb in labels))


def _taken(capacity: Capacity, demand: Demand) -> set[tuple[str, str]]:
    """Node labels with their values that other groups have to themselves."""
    own = {demand.identity, demand.key}
    seats = (seat for seat in capacity.exclusive(demand.namespace) if seat.group_key not in own)
    found = ((seat.alone_on, _label(capacity.room(seat.node), seat.alone_on)) for seat in seats)
    return {(label, value) for label, value in found if value is not None}


def exclusive_choices(rooms: Sequence[Room], demand: Demand, key: str) -> dict[str, list[int]]:
    """Label value -> places of its nodes, for the values that no other group of the namespace sits in.

    A group with bound members has the values of their nodes only.
    """
    bound = set(demand.bound.values())
    choices: dict[str, list[int]] = {}
    taken: set[str] = set()
    kept: set[str] = set()
    for place, room in enumerate(rooms):
        value = _label(room, key)
        if value is None:
            continue
        choices.setdefault(value, []).append(place)
        if _others(room, demand):
            taken.add(value)
        if room.name in bound:
            kept.add(value)
    return {value: choices[value] for value in sorted(kept or choices.keys() - taken)}


def level_of_label(forest: Forest, choices: Mapping[str, Sequence[int]]) -> int | None:
    """The level whose domains are the values of a label, None when none is (each value must be one whole domain)."""
    levels = {_level(forest, places) for places in choices.values()}
    return levels.pop() if len(levels) == 1 else None


def _level(forest: Forest, places: Sequence[int]) -> int | None:
    same = (index for index in forest.chain(places[0]) if len(forest.domains[index]) == len(places))
    index = next((index for index in same if all(forest.holds(index, place) for place in places)), None)
    return None if index is None else forest.level_of[index]


def _label(room: Room, label: str) -> str | None:
    return room.node.metadata.labels.get(label) if room.node is not None else None


def _others(room: Room, demand: Demand) -> bool:
    own = {demand.identity, demand.key}
    prefix = f"{demand.namespace}/"
    return any(group not in own and group.startswith(prefix) for group in room.groups)
