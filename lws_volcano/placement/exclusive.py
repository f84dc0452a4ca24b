"""LWS exclusive topology: a group, or each of its sub-groups, has all nodes of one label value to itself.

The LeaderWorkerSet controller writes this as pod affinity and anti-affinity on the label `group-key`, within the
namespace; here it is a restriction of the nodes that a plan may use.
"""

from collections.abc import Mapping, Sequence

from lws_volcano.placement.demand import Demand
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.room import Room

__all__ = ["exclusive_choices", "level_of_label"]


def exclusive_choices(rooms: Sequence[Room], demand: Demand, key: str) -> dict[str, list[int]]:
    """Label value -> places of its nodes, for the values that no other group of the namespace sits in.

    A group with bound members has the values of their nodes only.
    """
    bound = set(demand.bound.values())
    choices: dict[str, list[int]] = {}
    taken: set[str] = set()
    kept: set[str] = set()
    for place, room in enumerate(rooms):
        value = room.node.metadata.labels.get(key) if room.node is not None else None
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


def _others(room: Room, demand: Demand) -> bool:
    own = {demand.identity, demand.key}
    prefix = f"{demand.namespace}/"
    return any(group not in own and group.startswith(prefix) for group in room.groups)
