"""Why a group goes where it goes, and why not each other domain."""

from collections.abc import Iterator
from dataclasses import dataclass

from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.exclusive import open_tally
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.shortage import obstacles
from lws_volcano.placement.tally import Tally

__all__ = ["Explanation", "Verdict", "explain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One domain in the eyes of one group.

    Attributes
    ----------
    largest
        Pods of the largest group of this kind that fits now, the leader included.
    free
        Free worker slots.
    chosen, fits
        Whether it was taken, and whether it could have been.
    why
        In words.
    """

    domain: str
    tier: int
    tier_name: str
    largest: int
    free: int
    chosen: bool
    fits: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A summary, and a verdict on every domain up to the planned tier: the chosen one first, then by tier."""

    summary: str
    verdicts: tuple[Verdict, ...]

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        yield self.summary
        for verdict in self.verdicts:
            mark = "*" if verdict.chosen else "-"
            yield f"  {mark} {verdict.tier_name} {verdict.domain}: {verdict.why}"


def explain(plan: GroupPlan, capacity: Capacity) -> Explanation:
    """Explanation of a plan, from the capacity that it was made from (what the group itself holds counts as free)."""
    with capacity.without(plan.demand.key):
        tally = open_tally(capacity, plan.demand)
        verdicts = [_verdict(plan, capacity, tally, index) for index in _listed(plan, capacity.forest)]
    verdicts.sort(key=lambda v: (not v.chosen, v.tier, not v.fits, v.free if v.fits else -v.largest, v.domain))
    return Explanation(summary=_summary(plan), verdicts=tuple(verdicts))


def _listed(plan: GroupPlan, forest: Forest) -> list[int]:
    """Domains that came into question: up to the planned tier, or the allowed one."""
    rules = plan.demand.rules
    limit = plan.domain.tier if plan.domain is not None else rules.highest_tier if rules.limited else None
    return [i for i, domain in enumerate(forest.domains) if limit is None or domain.tier <= limit]


def _summary(plan: GroupPlan) -> str:
    demand = plan.demand
    name = f"{demand.key}: {demand.size} pod{'s' if demand.size > 1 else ''}"
    if not plan.feasible:
        return f"{name}, not placed: {plan.reason}"
    if plan.domain is None:
        where = "over several trees or on nodes without a domain" if plan.quality and plan.quality.domains else "placed"
        return f"{name}, {where}: no single domain holds the group"
    return f"{name} in {plan.domain.tier_name} {plan.domain.name}: {_because(plan)}"


def _because(plan: GroupPlan) -> str:
    if plan.demand.bound:
        return f"{len(plan.demand.bound)} of its pods are there already"
    quality = plan.quality
    if quality is not None and quality.highest_tier == 0:
        return "one node takes the whole group; the fullest that does"
    return "the closest tier that holds the whole group; of its domains the fewest parts, then the fullest"


def _verdict(plan: GroupPlan, capacity: Capacity, tally: Tally, index: int) -> Verdict:
    domain, demand = capacity.forest.domains[index], plan.demand
    chosen = plan.domain is not None and plan.domain.name == domain.name
    fits = tally.fits(index, demand.workers)
    return Verdict(
        domain=domain.name,
        tier=domain.tier,
        tier_name=domain.tier_name,
        largest=tally.largest(index),
        free=tally.free[index],
        chosen=chosen,
        fits=fits,
        why=_why(plan, capacity, tally, index) if fits else _too_small(capacity, demand, tally, index),
    )


def _too_small(capacity: Capacity, demand: Demand, tally: Tally, index: int) -> str:
    most = tally.largest(index)
    held = f"takes a leader and {most - 1} of {demand.workers} workers" if most else "takes no leader"
    domain = capacity.forest.domains[index]
    blocked = obstacles(capacity.rooms[domain.lo : domain.hi], demand.worker)
    return f"{held}; {blocked}" if blocked else held


def _why(plan: GroupPlan, capacity: Capacity, tally: Tally, index: int) -> str:
    domain = capacity.forest.domains[index]
    free = f"{tally.free[index]} free worker slots"
    if plan.domain is None:
        return f"holds the group by room ({free}), but another rule keeps it out"
    if domain.name == plan.domain.name:
        return f"chosen, {free}"
    if domain.tier < plan.domain.tier:
        return f"holds the group by room ({free}), but another rule keeps it out"
    other = tally.free[capacity.forest.topology.index_of[plan.domain.name]] if capacity.forest.topology else 0
    if tally.free[index] > other:
        return f"holds the group too, but is emptier ({free} against {other})"
    if tally.free[index] == other:
        return f"holds the group as well ({free}); the chosen one needs no more nodes and comes first by name"
    return f"holds the group too ({free}), but in more parts, or on no single node"
