"""The way in: plans for groups, from what is free.

`plan_group` plans one group, `plan_groups` several in the given order, each seeing what the earlier ones took. Both
leave the capacity as they found it; `Capacity.reserve` makes a plan hold its place.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from lws_volcano.api.names import LEADER, WORKER
from lws_volcano.placement.anchored import Anchored
from lws_volcano.placement.apart import leader_apart
from lws_volcano.placement.bounds import fewest_domains
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.company import around, companions, room_for_all
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.exclusive import exclusive_choices, level_of_label, open_tally
from lws_volcano.placement.plan import Alternative, DomainRef, GroupPlan, PlannedPod
from lws_volcano.placement.quality import Quality, quality_of
from lws_volcano.placement.refill import LOST, Refill
from lws_volcano.placement.region import Regions
from lws_volcano.placement.search import Found, Search
from lws_volcano.placement.shortage import shortage
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import ACROSS

__all__ = ["ALTERNATIVES", "plan_group", "plan_groups"]

ALTERNATIVES: Final = 32
"""Candidate domains that get a rank map."""
_MAPPED_PODS: Final = 1024
"""Ranks mapped over all alternatives: large groups have fewer of them."""
_EXCLUSIVE_VALUES: Final = 16
"""Label values of an exclusive topology that are planned in full, fullest first."""


def plan_groups(demands: Iterable[Demand], capacity: Capacity, *, alternatives: int = ALTERNATIVES) -> list[GroupPlan]:
    """Plans in the given order (the caller sorts by priority), each group seeing what the earlier ones took.

    Groups of one placement group are planned near each other: what stands later in the list is thought of when the
    first is planned.
    """
    waiting = list(demands)
    plans: list[GroupPlan] = []
    with capacity.trial() as trial:
        while waiting:
            demand = waiting.pop(0)
            near, later = _company(demand, plans, waiting)
            plan = plan_group(demand, capacity, later=later, near=near, alternatives=alternatives)
            plans.append(plan)
            if plan.feasible:
                trial.hold(demand, plan.nodes)
    return plans


def _company(demand: Demand, plans: Sequence[GroupPlan], waiting: Sequence[Demand]) -> tuple[list[str], list[Demand]]:
    """Nodes of the companions that are planned, and the companions that are not yet."""
    if not demand.rules.placement_group:
        return [], []
    near = [node for plan in plans if companions(demand, [plan.demand]) for node in plan.nodes.values()]
    return near, companions(demand, waiting)


def plan_group(
    demand: Demand,
    capacity: Capacity,
    *,
    later: Sequence[Demand] = (),
    near: Sequence[str] = (),
    alternatives: int = ALTERNATIVES,
) -> GroupPlan:
    """Plan of one group; what the group itself holds by reservation counts as free.

    Parameters
    ----------
    demand : Demand
        The group.
    capacity : Capacity
        What is free, bound members of the group included as pods.
    later : sequence of Demand, optional
        Companions (of the same placement group) that are still to be planned.
    near : sequence of str, optional
        Nodes of companions, besides `Demand.near`.
    alternatives : int
        Most candidate domains with a rank map, the chosen one included.
    """
    with capacity.without(demand.key):
        plan = _Plan(demand, capacity, alternatives)
        for within in _near(demand, capacity, later, near):
            found = plan.make(within)
            if found.feasible:
                return found
        return plan.make(ACROSS)


def _near(demand: Demand, capacity: Capacity, later: Sequence[Demand], near: Sequence[str]) -> Iterator[int]:
    """Domains to try first, for the sake of the placement group."""
    if not demand.rules.placement_group or demand.bound:
        return
    neighbours = [*demand.near, *near]
    if neighbours:
        yield from around(capacity.forest, neighbours, demand.rules.placement_group_tier)
    elif later:
        domain = room_for_all(capacity, demand, later, lambda one, within: _Plan(one, capacity, 1).make(within))
        if domain is not None:
            yield domain


class _Plan:
    """Making one group's plan."""

    def __init__(self, demand: Demand, capacity: Capacity, alternatives: int) -> None:
        self.demand, self.capacity, self.forest = demand, capacity, capacity.forest
        for node in demand.bound.values():
            capacity.place(node)
        self.limit = max(1, min(alternatives, _MAPPED_PODS // demand.size))
        self.hard = demand.rules.limited and bool(self.forest.levels)
        self.top = self.forest.allowed_level(demand.rules.highest_tier if self.hard else None)

    def make(self, within: int) -> GroupPlan:
        """The plan inside a domain (`ACROSS`: anywhere)."""
        # Asked for again each time: what was tried for a placement group in between has touched the counts.
        self.tally = open_tally(self.capacity, self.demand)
        found = list(islice(self._found(within), self.limit))
        if not found:
            reason = shortage(self.capacity, self.tally, self.demand, self.top)
            return GroupPlan(demand=self.demand, feasible=False, reason=reason)
        return self._plan(found, within)

    def _found(self, within: int) -> Iterator[Found]:
        if self.demand.bound:
            return self._anchored()
        if self.demand.rules.exclusive_key:
            return self._exclusive(within)
        if self.demand.rules.sub_group_exclusive_key and self.demand.split is not None:
            return self._exclusive_sub_groups(within)
        return self._search(self.tally, within)

    def _exclusive_sub_groups(self, within: int) -> Iterator[Found]:
        """Each sub-group has a label value to itself, where the topology has a domain for each value."""
        choices = exclusive_choices(self.capacity.rooms, self.demand, self.demand.rules.sub_group_exclusive_key)
        tally = self.tally.only(place for places in choices.values() for place in places)
        return self._search(tally, within, level_of_label(self.forest, choices))

    def _search(self, tally: Tally, within: int, alone_at: int | None = None) -> Iterator[Found]:
        """Allowed domains; then the leader apart; then, unless the rule is hard, over several trees."""
        search = Search(tally, self.demand, within, alone_at, few=self.limit)
        any_found = False
        for found in search.ranked(self.top):
            any_found = True
            yield found
        if any_found or within != ACROSS:
            return
        last = self._leader_apart(tally) if self.hard else search.anywhere()
        if last is not None:
            yield last

    def _leader_apart(self, tally: Tally) -> Found | None:
        if self.demand.rules.scope != "workers" or not self.demand.workers:
            return None
        return leader_apart(tally, self.demand, self.top)

    def _exclusive(self, within: int) -> Iterator[Found]:
        """One candidate a label value; the best by the usual order, over the fullest values."""
        choices = exclusive_choices(self.capacity.rooms, self.demand, self.demand.rules.exclusive_key)
        slots = {value: sum(self.tally.pairs[p][0] for p in places) for value, places in choices.items()}
        fullest = sorted((free, value) for value, free in slots.items() if free >= self.demand.workers)
        found: list[tuple[tuple[float, ...], int, str, Found]] = []
        for free, value in fullest:
            best = next(self._search(self.tally.only(choices[value]), within), None)
            if best is not None:
                found.append((self._order(best), free, value, best))
            if len(found) == _EXCLUSIVE_VALUES:
                break
        return iter([entry[3] for entry in sorted(found, key=lambda entry: entry[:3])])

    def _order(self, found: Found) -> tuple[float, ...]:
        quality = self._quality(found)
        tier = -1 if quality.highest_tier is None else quality.highest_tier
        return (tier, *reversed(quality.domains.values()))

    def _anchored(self) -> Iterator[Found]:
        found = self._refilled()
        return iter(()) if found is None else iter((found,))

    def _refilled(self) -> Found | None:
        """Nodes for the members without one: the best of all where few are lost, else also by other rules."""
        ring, regions = self.capacity.ring, Regions(self.tally, self.demand, self.top, hard=self.hard)
        anchored = Anchored(self.tally, self.demand, ring, regions)
        if self.demand.split is not None or len(self.demand.missing()) > LOST:
            return anchored.best()
        refill = Refill(self.tally, self.demand, ring, regions)
        first = refill.best()
        if first is None or first.exact:
            return first
        second = anchored.best()
        return first if second is None else min(first, second, key=refill.worth)

    # --- putting it into words

    def _plan(self, found: list[Found], within: int) -> GroupPlan:
        best = found[0]
        names = self.forest.names
        return GroupPlan(
            demand=self.demand,
            feasible=True,
            domain=self._domain(best),
            pods=tuple(self._pod(rank, place) for rank, place in enumerate(best.places)),
            quality=self._quality(best),
            within=self._name(within),
            alternatives=tuple(
                Alternative(self._name(one.domain), tuple(names[place] for place in one.places)) for one in found
            ),
        )

    def _quality(self, found: Found) -> Quality:
        at_least = None if found.exact else self._fewest(found.domain)
        return quality_of(self.forest, found.places, self.capacity.ring, at_least)

    def _fewest(self, domain: int) -> list[int]:
        members = [self.forest.place(node) for node in self.demand.bound.values()]
        return fewest_domains(self.tally, domain, sum(map(bool, self.demand.missing())), members)

    def _name(self, domain: int) -> str:
        return "" if domain == ACROSS else self.forest.domains[domain].name

    def _domain(self, found: Found) -> DomainRef | None:
        places = list(found.places)
        index = self.forest.home(places[0]) if len(set(places)) == 1 else self.forest.common(places)
        if index == ACROSS:
            return None
        domain = self.forest.domains[index]
        return DomainRef(domain.name, domain.tier, domain.tier_name)

    def _pod(self, rank: int, place: int) -> PlannedPod:
        topology = self.forest.topology
        path = () if topology is None or self.forest.loose(place) else topology.path(place)
        role = WORKER if rank else LEADER
        return PlannedPod(role, rank, self.forest.names[place], path, bound=rank in self.demand.bound)
