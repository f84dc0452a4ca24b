"""Bandwidth of the tiers of a fabric, from the rates of its links.

What the schema asks for is the bandwidth per node between two nodes that meet at a tier. At the first tier that is what
a node has into its unit, all rails together; at a further one the links that lead out of a unit of the tier below,
shared among its nodes, so that a thinned-out spine shows. Of the values of a tier the middle one counts: a single cable
that trained down is no property of the network. A link without a rate leaves its tier, and those above, without
bandwidth.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from statistics import median_low
from typing import Final

from lws_volcano.topology.importers.document import Placed, Tiers, fabric_tiers
from lws_volcano.topology.importers.fabric import Fabric, Units
from lws_volcano.topology.rates import format_bandwidth

__all__ = ["by_tier", "of_units", "rated"]

Rates = Mapping[int, Sequence[Fraction | None]]
"""Tier number -> what was found in it, in GB/s; None where it is not known."""

_BITS: Final = 8


def of_units(fabric: Fabric, units: Units) -> dict[int, Fraction]:
    """Bandwidth in GB/s by tier number, as far as the links say so; linear in links times tiers."""
    found: dict[int, list[Fraction | None]] = {}
    for domain in units.domains:
        if domain.tier == 1:
            own = units.switches[domain.name]
            found.setdefault(1, []).extend(_each(_sum(fabric.rate(node, at) for at in own)) for node in domain.nodes)
    tier_of = {domain.name: domain.tier for domain in units.domains}
    out, count = _leading_out(fabric, units), _nodes_below(units.domains)
    for domain in units.domains:
        if domain.parent is not None and count[domain.name]:
            found.setdefault(tier_of[domain.parent], []).append(_each(out.get(domain.name), count[domain.name]))
    return by_tier(found)


def by_tier(found: Rates) -> dict[int, Fraction]:
    """The middle of each tier, up to the first tier of which something is not known; it never rises with distance."""
    known: dict[int, Fraction] = {}
    for number in sorted(found):
        values = [value for value in found[number] if value]
        if not values or len(values) < len(found[number]):
            break
        known[number] = min(median_low(values), *known.values()) if known else median_low(values)
    return known


def rated(bandwidths: Mapping[int, Fraction]) -> Callable[[Iterable[int]], Tiers]:
    """The tiers of a switch tree, with these bandwidths."""
    return partial(_rated, bandwidths)


def _rated(bandwidths: Mapping[int, Fraction], numbers: Iterable[int]) -> Tiers:
    written = {number: format_bandwidth(rate) for number, rate in bandwidths.items()}
    return {
        number: tier.model_copy(update={"bandwidth": written[number]}) if number in written else tier
        for number, tier in fabric_tiers(numbers).items()
    }


def _each(gigabits: int | None, nodes: int = 1) -> Fraction | None:
    """GB/s of one of the nodes; None where nothing is known."""
    return Fraction(gigabits, _BITS * nodes) if gigabits else None


def _sum(rates: Iterable[int | None]) -> int | None:
    """All together; None as soon as one is not known."""
    total = 0
    for rate in rates:
        if rate is None:
            return None
        total += rate
    return total


def _leading_out(fabric: Fabric, units: Units) -> dict[str, int | None]:
    """Unit -> Gb/s of the links from the switches in it, or in units below it, to the switches of all others."""
    home = {switch: unit for unit, switches in units.switches.items() for switch in switches}
    parent = {domain.name: domain.parent for domain in units.domains}
    out: dict[str, int | None] = {}
    for one, other, rate in fabric.trunks():
        if one in home and other in home:
            above = list(_upwards(home[one], parent)), list(_upwards(home[other], parent))
            for near, far in (above, above[::-1]):
                for unit in (unit for unit in near if unit not in far):
                    out[unit] = _sum((out.get(unit, 0), rate))
    return out


def _upwards(unit: str | None, parent: Mapping[str, str | None]) -> Iterator[str]:
    while unit is not None:
        yield unit
        unit = parent[unit]


def _nodes_below(domains: Sequence[Placed]) -> dict[str, int]:
    parent = {domain.name: domain.parent for domain in domains}
    count = dict.fromkeys(parent, 0)
    for domain in domains:
        for unit in _upwards(domain.name, parent):
            count[unit] += len(domain.nodes)
    return count
