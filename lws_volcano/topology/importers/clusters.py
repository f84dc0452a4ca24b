"""One step of the way from a fabric to a tree: which things share switches, and so are one unit.

Each switch stands for the set of things (nodes, or units of the level below) that hang on it. Switches with mostly the
same things are the rails or planes of one unit. A switch whose things are those of several other switches put together
(a storage switch, a management switch) joins units and belongs to a higher level. A thing that hangs on switches of two
units (a wrong cable) counts where most of its switches are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Clustering", "cluster"]

_COVERED: Final = 0.75
"""Share of a set that must lie in another one for it to be a part of that."""
_COMPARABLE: Final = 4
"""Parts smaller than this fraction of the largest part don't count."""
_EVEN: Final = 2
_REDUNDANT: Final = 2

Things = frozenset[str]


@dataclass(slots=True)
class Clustering:
    """The outcome of one step.

    Attributes
    ----------
    units
        Disjoint sets of things.
    switches
        Names of the switches of each unit, in the same order; what they hang together may reach beyond the unit.
    strays
        Things with switches of several units, and the units (by position) that they were not counted with.
    """

    units: list[set[str]] = field(default_factory=list)
    switches: list[set[str]] = field(default_factory=list)
    strays: dict[str, set[int]] = field(default_factory=dict)


def cluster(sets: Mapping[str, Things], *, joining: bool = True) -> Clustering:
    """Units of the things that these switches hold; with `joining` switches that join units are left for later."""
    named: dict[Things, list[str]] = {}
    for switch, things in sets.items():
        named.setdefault(things, []).append(switch)
    distinct = sorted(named, key=lambda things: (len(things), sorted(things)))
    common = _overlaps(distinct)
    joiners = _joiners(distinct, common, [len(named[things]) for things in distinct]) if joining else set()
    groups = _alike(distinct, common, joiners, all_overlaps=not joining)
    return _assign([[distinct[at] for at in group] for group in groups], named)


def _overlaps(distinct: Sequence[Things]) -> dict[int, Counter[int]]:
    """How many things each two sets share."""
    holders: dict[str, list[int]] = {}
    for at, things in enumerate(distinct):
        for thing in things:
            holders.setdefault(thing, []).append(at)
    common: dict[int, Counter[int]] = {at: Counter() for at in range(len(distinct))}
    for sharing in holders.values():
        for at in sharing:
            common[at].update(sharing)
    return common


def _joiners(distinct: Sequence[Things], common: Mapping[int, Counter[int]], copies: Sequence[int]) -> set[int]:
    return {at for at in range(len(distinct)) if _joins(at, distinct, common[at], copies)}


def _joins(at: int, distinct: Sequence[Things], shared: Counter[int], copies: Sequence[int]) -> bool:
    """The set is made of two or more others that have nothing to do with each other."""
    whole = distinct[at]
    parts: list[int] = []
    taken: set[str] = set()
    for part in sorted(shared, key=lambda part: (-len(distinct[part]), part)):
        things = distinct[part]
        if len(things) < len(whole) and shared[part] >= _COVERED * len(things):
            if parts and not _comparable(len(things), len(distinct[parts[0]])):
                break
            if len(things & taken) <= (1 - _COVERED) * len(things):
                parts.append(part)
                taken |= things
    if len(parts) < 2 or 2 * len(taken & whole) < len(whole):  # noqa: PLR2004
        return False
    even = len(distinct[parts[-1]]) * _EVEN >= len(distinct[parts[0]])
    return even or copies[at] * len(parts) <= _REDUNDANT * sum(copies[part] for part in parts)


def _comparable(part: int, largest: int) -> bool:
    """A part of this size counts beside the largest one: a rail with a cable or two left is no unit of its own."""
    return part * _COMPARABLE >= largest and (part > 1 or largest == 1)


def _alike(
    distinct: Sequence[Things], common: Mapping[int, Counter[int]], joiners: set[int], *, all_overlaps: bool
) -> list[list[int]]:
    """Sets grouped: two are alike when they share at least half of the larger one."""
    leader = list(range(len(distinct)))

    def lead(at: int) -> int:
        while leader[at] != at:
            leader[at] = leader[leader[at]]
            at = leader[at]
        return at

    for at, shared in common.items():
        for other, count in shared.items():
            if other <= at or at in joiners or other in joiners:
                continue
            if all_overlaps or 2 * count >= max(len(distinct[at]), len(distinct[other])):
                first, second = sorted((lead(at), lead(other)))
                leader[second] = first
    groups: dict[int, list[int]] = {}
    for at in range(len(distinct)):
        if at not in joiners:
            groups.setdefault(lead(at), []).append(at)
    return list(groups.values())


def _assign(groups: Iterable[Sequence[Things]], named: Mapping[Things, Sequence[str]]) -> Clustering:
    """Each thing to the unit that most of its switches belong to, then the smallest."""
    groups = list(groups)
    votes: dict[str, Counter[int]] = {}
    for unit, group in enumerate(groups):
        for things in group:
            for thing in things:
                votes.setdefault(thing, Counter())[unit] += len(named[things])
    sizes = [len(frozenset().union(*group)) for group in groups]
    home = {thing: min(counts, key=lambda unit: (-counts[unit], sizes[unit], unit)) for thing, counts in votes.items()}
    found = Clustering(units=[set() for _ in groups], switches=[set() for _ in groups])
    for thing, unit in home.items():
        found.units[unit].add(thing)
        if len(votes[thing]) > 1:
            found.strays[thing] = set(votes[thing]) - {unit}
    for unit, group in enumerate(groups):
        for things in group:
            at = unit if found.units[unit] else _most(Counter(home[thing] for thing in things))
            found.switches[at].update(named[things])
    return found


def _most(counts: Counter[int]) -> int:
    """The unit with the highest count, the first of equals."""
    return min(counts, key=lambda unit: (-counts[unit], unit))
