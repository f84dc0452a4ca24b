"""Placement groups: groups of several LeaderWorkerSets (prefill and decode) near each other, softly.

A group whose companions sit somewhere tries the domains around them, closest first. The first of a placement group to
be planned looks for a domain in which its known companions would fit as well.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.exclusive import open_tally
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.topology.model import ACROSS

__all__ = ["Planned", "around", "companions", "company_key", "room_for_all"]

Planned = Callable[[Demand, int], GroupPlan]
"""Plans a demand inside a domain."""

_TRIES: Final = 16
"""Domains a level that are tried for a whole placement group."""


def company_key(demand: Demand) -> tuple[str, str] | None:
    """Namespace and name of the placement group, None without one."""
    name = demand.rules.placement_group
    return (demand.namespace, name) if name else None


def companions(demand: Demand, others: Sequence[Demand]) -> list[Demand]:
    """Those of the others that belong to the same placement group."""
    key = company_key(demand)
    return [other for other in others if key is not None and company_key(other) == key]


def around(forest: Forest, nodes: Sequence[str], tier: int | None) -> Iterator[int]:
    """Domains around the nodes of companions, closest first, up to the tier that was asked for."""
    places = [forest.place_of[node] for node in nodes if node in forest.place_of]
    start = _common(forest, places) if places else ACROSS
    if start == ACROSS:
        return
    top = forest.allowed_level(tier)
    yield from (domain for domain in forest.above[start] if forest.level_of[domain] <= top)


def _common(forest: Forest, places: list[int]) -> int:
    return forest.home(places[0]) if len(set(places)) == 1 else forest.common(places)


def room_for_all(capacity: Capacity, demand: Demand, others: Sequence[Demand], plan: Planned) -> int | None:
    """The closest, fullest domain in which the group and all its companions can be planned, None without one."""
    forest = capacity.forest
    tally = open_tally(capacity, demand)
    for level in range(forest.allowed_level(demand.rules.placement_group_tier) + 1):
        with_room = tally.at_least(level, demand.workers)
        fitting = (domain for domain in with_room if _could_fit(capacity, [demand, *others], domain))
        for domain in list(islice(fitting, _TRIES)):
            if _all_fit(capacity, [demand, *others], domain, plan):
                return domain
    return None


def _could_fit(capacity: Capacity, demands: Sequence[Demand], domain: int) -> bool:
    """Each of them alone, and together those whose pods are all like the first one's: counted, not planned."""
    if not all(capacity.tally(one.leader, one.worker).fits(domain, one.workers) for one in demands):
        return False
    shape = demands[0].worker
    pods = sum(one.size for one in demands if one.leader == one.worker == shape)
    return pods <= capacity.tally(shape, shape).largest(domain)


def _all_fit(capacity: Capacity, demands: Sequence[Demand], domain: int, plan: Planned) -> bool:
    with capacity.trial() as trial:
        for demand in demands:
            planned = plan(demand, domain)
            if not planned.feasible:
                return False
            trial.hold(demand, planned.nodes)
    return True
