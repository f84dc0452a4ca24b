"""How good a placement is: tiers spanned, domains used, ring cost. All count every pod, the leader too."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lws_volcano.placement.forest import Forest
from lws_volcano.placement.ring import Ring
from lws_volcano.topology.model import ACROSS

__all__ = ["Quality", "domains_used", "quality_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Quality of one placement.

    Attributes
    ----------
    highest_tier
        Tier of the lowest domain that holds every pod; 0 on one node, top tier + 1 across trees, None without a
        topology.
    domains
        Tier name -> distinct domains used, closest first. A node attached above a tier is alone in its missing domain
        there; so is a node without any domain.
    ring_cost
        s/GB: sum of 1 / bandwidth around the ranks; None without a topology, where nothing is known of distance.
    exact
        Nothing better exists in the order of the planner; otherwise the search was cut short at its budget.
    at_least
        Lower bounds of `domains`, where the search was cut short.
    """

    highest_tier: int | None
    domains: dict[str, int] = field(default_factory=dict)
    ring_cost: float | None = None
    exact: bool = True
    at_least: dict[str, int] = field(default_factory=dict)


def quality_of(forest: Forest, places: Sequence[int], ring: Ring, at_least: Sequence[int] | None = None) -> Quality:
    """Quality of the places of all ranks; `at_least` bounds the domains a level when the search was cut short."""
    topology = forest.topology
    if topology is None or not forest.levels:
        return Quality(highest_tier=None, exact=at_least is None)
    used = domains_used(forest, places)
    names = [_tier_name(forest, level) for level in range(len(forest.levels))]
    return Quality(
        highest_tier=_highest_tier(forest, places),
        domains=_by_tier(forest, used, len(set(places))),
        ring_cost=float(ring.exact(places)),
        exact=at_least is None,
        at_least=dict(zip(names, at_least or (), strict=False)),
    )


def _by_tier(forest: Forest, used: Sequence[int], nodes: int) -> dict[str, int]:
    """Domains a tier, tiers without any domain included: there, what lies below is alone."""
    counts = dict(zip(forest.levels, used, strict=True))
    found: dict[str, int] = {}
    below = nodes
    for number in sorted({*counts, *_declared(forest)}):
        below = counts.get(number, below)
        found[_name_of(forest, number)] = below
    return found


def _declared(forest: Forest) -> list[int]:
    return [tier.number for tier in forest.topology.tiers] if forest.topology else []


def _tier_name(forest: Forest, level: int) -> str:
    return _name_of(forest, forest.levels[level])


def _name_of(forest: Forest, number: int) -> str:
    tiers = forest.topology.tiers if forest.topology else ()
    return "/".join(dict.fromkeys(tier.name for tier in tiers if tier.number == number)) or str(number)


def _highest_tier(forest: Forest, places: Sequence[int]) -> int:
    if len(set(places)) == 1:
        return 0
    domain = forest.common(list(places))
    return max(forest.levels[-1], *_declared(forest)) + 1 if domain == ACROSS else forest.domains[domain].tier


def domains_used(forest: Forest, places: Sequence[int]) -> list[int]:
    """Distinct domains at each level, closest first."""
    used: list[set[tuple[bool, int]]] = [set() for _ in forest.levels]
    for place in set(places):
        above = {forest.level_of[domain]: domain for domain in forest.chain(place)}
        below = (True, place)
        for level, domains in enumerate(used):
            if level in above:
                below = (False, above[level])
            domains.add(below)
    return [len(domains) for domains in used]
