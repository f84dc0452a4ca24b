"""The tiers of a document: numbers, bandwidths left out, and the rule that bandwidth never rises with distance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import FieldPath, Report
from lws_volcano.topology.model import Tier
from lws_volcano.topology.rates import format_bandwidth, parse_bandwidth, parse_latency
from lws_volcano.topology.schema import TierSpec, TopologySpec

__all__ = ["DEFAULT_BANDWIDTH", "TierTable", "read_tiers"]

Parser = Callable[[str | float], Fraction]

DEFAULT_BANDWIDTH: Final = Fraction(100)
"""GB/s at the closest tier when nobody says; half of the tier below at each further one."""


@dataclass(frozen=True, slots=True)
class TierTable:
    """Tiers by number, closest first, and by name."""

    tiers: tuple[Tier, ...]
    by_name: Mapping[str, Tier]
    by_number: Mapping[int, Tier]
    across: Fraction

    def find(self, reference: str | int) -> Tier | None:
        """Tier by number, or by name and then by a number written as text."""
        if isinstance(reference, int):
            return self.by_number.get(reference)
        number = int(reference) if reference.isascii() and reference.isdigit() else -1
        return self.by_name.get(reference) or self.by_number.get(number)

    def known(self) -> str:
        """The tiers there are, for a message."""
        return ", ".join(f"{tier.name} ({tier.number})" for tier in self.tiers) or "none"


def read_tiers(spec: TopologySpec, report: Report) -> TierTable:
    """Tiers of a document, closest first; a faulty one is reported and left out."""
    read = [(entry, index) for index, entry in enumerate(spec.tiers)]
    numbered = _distinct([(_number(entry, index), entry, index) for entry, index in read], report)
    tiers: list[Tier] = []
    for number, entry, index in sorted(numbered, key=lambda item: item[0]):
        below = tiers[-1].bandwidth if tiers else DEFAULT_BANDWIDTH * 2
        path = ("spec", "tiers", index)
        bandwidth = _measure(entry.bandwidth, parse_bandwidth, (*path, "bandwidth"), report) or below / 2
        latency = _measure(entry.latency, parse_latency, (*path, "latency"), report)
        tiers.append(Tier(number=number, name=entry.name, bandwidth=bandwidth, latency=latency))
    _check_order(tiers, {entry.name: index for _, entry, index in numbered}, report)
    return _table(tiers, _across(spec, tiers, report))


def _number(entry: TierSpec, index: int) -> int:
    return index + 1 if entry.tier is None else entry.tier


def _distinct(numbered: Sequence[tuple[int, TierSpec, int]], report: Report) -> list[tuple[int, TierSpec, int]]:
    """Leave out, and report, tiers whose name or number was there before."""
    kept: list[tuple[int, TierSpec, int]] = []
    names: set[str] = set()
    numbers: dict[int, str] = {}
    for number, entry, index in numbered:
        path = ("spec", "tiers", index)
        if entry.name in names:
            report.error(f"tier {entry.name!r} is there twice", path, mend="give each tier a name of its own")
        elif number in numbers:
            what = f"tiers {numbers[number]!r} and {entry.name!r} both have the number {number}"
            report.error(
                what, path, mend="number all tiers or none; trees of different make go into documents of their own"
            )
        else:
            kept.append((number, entry, index))
            names.add(entry.name)
            numbers[number] = entry.name
    return kept


def _measure(value: str | float | None, parse: Parser, path: FieldPath, report: Report) -> Fraction | None:
    try:
        return None if value is None else parse(value)
    except TopologyError as error:
        report.error(error.what, path, mend=error.mend)
        return None


def _check_order(tiers: Sequence[Tier], index_of: Mapping[str, int], report: Report) -> None:
    for near, far in pairwise(tiers):
        if far.bandwidth > near.bandwidth:
            report.error(
                f"bandwidth rises with distance: {near.name} has {format_bandwidth(near.bandwidth)}, "
                f"{far.name} further out {format_bandwidth(far.bandwidth)}",
                ("spec", "tiers", index_of[far.name], "bandwidth"),
                mend="list the tiers closest first, and write the bandwidth of each",
            )


def _across(spec: TopologySpec, tiers: Sequence[Tier], report: Report) -> Fraction:
    """Bandwidth between trees: as written, but never above the slowest tier."""
    lowest = min((tier.bandwidth for tier in tiers), default=DEFAULT_BANDWIDTH)
    path = ("spec", "acrossBandwidth")
    across = _measure(spec.across_bandwidth, parse_bandwidth, path, report)
    if across is not None and across > lowest:
        what = f"bandwidth rises with distance: acrossBandwidth {format_bandwidth(across)} is above the slowest tier's"
        report.error(what, path, mend=f"at most {format_bandwidth(lowest)} makes sense")
    return across or lowest


def _table(tiers: Sequence[Tier], across: Fraction) -> TierTable:
    return TierTable(tuple(tiers), {tier.name: tier for tier in tiers}, {tier.number: tier for tier in tiers}, across)
