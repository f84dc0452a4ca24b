"""Where the group of a plan may land, as the scheduler sees it, and what it would do in each of these domains.

Volcano dry-runs a group in every HyperNode of the lowest tier where one can hold it and takes the fullest by its own
measure; the preferences of pods have no say in that. So the planned domain comes first, and behind it all others of its
tier that hold the group, those first that the scheduler is most likely to take.

A domain that is promised to another group counts as free for this: until that group is bound the scheduler knows
nothing of it, and of two groups that come together each may land where the other was planned.
"""

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice
from typing import Final

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.descent import descend
from lws_volcano.placement.exclusive import open_tally
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.planner import ALTERNATIVES
from lws_volcano.placement.ranks import by_rank
from lws_volcano.placement.search import Search
from lws_volcano.placement.window import SPARES, Landing
from lws_volcano.topology.model import ACROSS

__all__ = ["LANDINGS", "landings", "roomy_nodes", "sampled", "wanted_alternatives"]

LANDINGS: Final = 32
"""Most domains with a sequence of nodes, the planned one included."""
_PODS: Final = 512
"""Most pods planned over all of them: large groups have fewer."""
_ROOMY_NODES: Final = 512
"""Most nodes in the list of a leader that comes first: about 10 KB."""
_PROMISED: Final = 128
"""Most pods of other groups whose promises are looked through: each costs some 30 us."""
_ALWAYS_SEEN: Final = 100
_SHARE, _LEAST_SHARE, _FALL = 50, 5, 125


def sampled(plan: GroupPlan, capacity: Capacity) -> bool:
    """Nothing narrows the scheduler's choice, and the cluster has more nodes with room than it looks at for a pod.

    It then sees some of them, from a start that moves on: max(100, n * (50 - n / 125) %) of n nodes, by default.
    Preferences for nodes that it does not see scatter a group more than none do (docs/hints.md).
    """
    demand = plan.demand
    if demand.rules.mode != "none" or demand.rules.placement != "preferred" or plan.within:
        return False
    nodes = len(capacity.rooms)
    seen = nodes * max(_SHARE - nodes // _FALL, _LEAST_SHARE) // 100
    tally, forest = capacity.tally(demand.leader, demand.worker), capacity.forest
    with_room = sum(sum(tally.classes[root].values()) for root in forest.roots) + sum(map(len, tally.loose.values()))
    return with_room > max(seen, _ALWAYS_SEEN)


def wanted_alternatives(demand: Demand) -> int:
    """Candidate domains that a plan must name for its landings: where only room decides, they are looked up here."""
    return ALTERNATIVES if _is_special(demand) else 1


def landings(plan: GroupPlan, capacity: Capacity) -> tuple[Landing, ...]:
    """The planned domain, and the others where the group may land; what the group itself holds counts as free."""
    if not plan.feasible or not plan.alternatives:
        return ()
    with capacity.without(plan.demand.key):
        chosen = _Landings(plan, capacity).first()
        with capacity.without_promises(_PROMISED):
            return (chosen, *_Landings(plan, capacity).others())


def roomy_nodes(plan: GroupPlan, capacity: Capacity, *, alone: bool = True) -> tuple[str, ...]:
    """Nodes for a leader that comes before its workers: those with room for it in domains that hold the whole group.

    Unless the group waits alone, in the planned domain only: its leader takes one node, the rest of the domain looks
    free to the scheduler, and a second leader there would leave the workers of neither enough.
    """
    if not plan.feasible or not plan.alternatives or not plan.alternatives[0].domain:
        return ()
    with capacity.without(plan.demand.key):
        return _Landings(plan, capacity).for_leader(alone=alone)


class _Landings:
    def __init__(self, plan: GroupPlan, capacity: Capacity) -> None:
        self.plan, self.demand, self.forest = plan, plan.demand, capacity.forest
        self.capacity = capacity
        self.tally = open_tally(capacity, self.demand)
        self.names = self.forest.names
        self.planned = {one.domain: one.nodes for one in plan.alternatives}
        self.chosen = self._index(plan.alternatives[0].domain)

    def _index(self, name: str) -> int:
        topology = self.forest.topology
        return ACROSS if topology is None else topology.index_of.get(name, ACROSS)

    def first(self) -> Landing:
        """The chosen domain."""
        chosen = self.plan.alternatives[0]
        return Landing(chosen.domain, chosen.nodes, self._spares(self.chosen, chosen.nodes))

    def others(self) -> Iterator[Landing]:
        """The scheduler's favourites first."""
        most = min(LANDINGS, max(1, _PODS // self.demand.size)) - 1
        for domain in self._others(most):
            nodes = self._nodes(domain)
            if nodes:
                yield Landing(self.forest.domains[domain].name, nodes, self._spares(domain, nodes))

    def for_leader(self, *, alone: bool) -> tuple[str, ...]:
        """The chosen domain's nodes in any case, then whole domains while the list is short."""
        found: list[int] = []
        for domain in (self.chosen, *(self._others(len(self.forest.domains)) if alone else ())):
            nodes = [place for place in self._with_room(domain) if self.tally.pairs[place][1] >= 0]
            if found and len(found) + len(nodes) > _ROOMY_NODES:
                break
            found += nodes
        leader = self.forest.place_of[self.plan.alternatives[0].nodes[0]]
        return tuple(self.names[place] for place in found) if leader in found else ()

    def _others(self, most: int) -> Sequence[int]:
        """Other domains that hold the group, the scheduler's favourites first."""
        if self.chosen == ACROSS:
            return ()
        asked = _asked(self.demand)
        fullness = self.capacity.fullness
        return nlargest(most, self._able(), key=lambda domain: (fullness.of(domain, asked), -domain))

    def _able(self) -> list[int]:
        if _is_special(self.demand):
            return [index for name in self.planned if (index := self._index(name)) not in {self.chosen, ACROSS}]
        level, within = self.forest.level_of[self.chosen], self._index(self.plan.within)
        fitting = self.tally.at_least(level, self.demand.workers)
        return [
            domain
            for domain in fitting
            if domain != self.chosen
            and self.tally.fits(domain, self.demand.workers)
            and self.forest.inside(domain, within)
        ]

    def _nodes(self, domain: int) -> tuple[str, ...]:
        planned = self.planned.get(self.forest.domains[domain].name)
        if planned is not None:
            return planned
        search = Search(self.tally, self.demand)
        if self.demand.split is None and self.forest.children[domain]:
            seats = descend(self.tally, domain, search.load)
            places = by_rank(self.forest, seats) if seats else []
        else:
            found = search.placed_in(domain)
            places = [] if found is None else list(found.places)
        return tuple(self.names[place] for place in places)

    def _spares(self, domain: int, nodes: Sequence[str]) -> tuple[str, ...]:
        """Of the racks used, then those behind the last planned one, then the rest: the next ranks stay in order."""
        used = {self.forest.place_of[node] for node in nodes}
        homes = sorted({home for place in used if (home := self.forest.home(place)) != ACROSS})
        beside = (place for home in homes for place in self.forest.attached[home] if self.tally.pairs[place][0])
        last = max(used)
        behind = (place for place in self._with_room(domain) if place > last)
        before = (place for place in self._with_room(domain) if place < last)
        found = dict.fromkeys(islice((p for p in chain(beside, behind, before) if p not in used), 2 * SPARES))
        return tuple(self.names[place] for place in islice(found, SPARES))

    def _with_room(self, domain: int) -> Iterator[int]:
        """Places below a domain with room for a worker or the leader, in order; full branches are not walked."""
        if domain == ACROSS or not self.tally.classes[domain]:
            return
        pairs = self.tally.pairs
        yield from (place for place in self.forest.attached[domain] if pairs[place][0] or pairs[place][1] >= 0)
        for child in self.forest.children[domain]:
            yield from self._with_room(child)


def _is_special(demand: Demand) -> bool:
    """More than room decides where the group fits: only the planner's own candidates count."""
    return bool(demand.rules.exclusive_key or demand.rules.sub_group_exclusive_key or demand.bound)


def _asked(demand: Demand) -> dict[str, int]:
    """What the whole group requests, nano units."""
    asked = dict(demand.leader.requests)
    for resource, nano in demand.worker.requests:
        asked[resource] = asked.get(resource, 0) + demand.workers * nano
    return asked
