"""From placed domains to the ClusterTopology document: empty domains dropped, equal tiers folded, hosts listed."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lws_volcano.topology.findings import Finding, examples
from lws_volcano.topology.hostlist import compress, natural
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.schema import MAX_NAME, ClusterTopology, DomainSpec, TierSpec, TopologyMetadata, TopologySpec

__all__ = ["Imported", "Placed", "Tiers", "fabric_tiers", "object_name", "topology_document"]

_FABRIC: Final = ("leaf", "spine", "core")
_SPELT_OUT: Final = 4
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9.-]+|(?<=[.-])\.|\.(?=-)")


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome: a document that holds, and what is worth knowing about how it came about."""

    document: ClusterTopology
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A domain with its place in the tree; `nodes` are those straight in it."""

    name: str
    tier: int
    parent: str | None
    nodes: tuple[str, ...] = ()


Tiers = Mapping[int, TierSpec]
"""Tiers by number, as the importer knows them."""


def fabric_tiers(numbers: Iterable[int]) -> dict[int, TierSpec]:
    """Names for the tiers of a switch tree: leaf, spine, core, then tier-4 and so on."""
    ordered = sorted(set(numbers))
    names = [*_FABRIC[: len(ordered)], *(f"tier-{at}" for at in range(len(_FABRIC) + 1, len(ordered) + 1))]
    return {number: TierSpec(name=name) for number, name in zip(ordered, names, strict=True)}


def topology_document(
    name: str,
    domains: Sequence[Placed],
    notes: Notes,
    tiers: Callable[[Iterable[int]], Tiers] = fabric_tiers,
    *,
    fold: bool = True,
    keep_numbers: bool = False,
) -> ClusterTopology:
    """The document of these domains.

    Parameters
    ----------
    name
        Name of the topology.
    domains
        A strict forest; parents need not come first.
    notes
        Told about domains that hold no node.
    tiers
        Gives the tiers for the numbers that are left in the end.
    fold
        Make one of two tiers whose domains have equal members; tiers that people gave a name are kept.
    keep_numbers
        Write the tier numbers as they are; otherwise tiers count from 1 without gaps.

    Raises
    ------
    InvalidTopologyError
        Errors were noted before, and nobody asked to keep going.
    """
    notes.check()
    domains = _without_empty(domains, notes)
    domains = _fold(domains) if fold else domains
    if not domains:
        notes.warn("topology is empty: no domain holds a node", mend="nothing can be placed by it yet")
    known = tiers(domain.tier for domain in domains)
    numbers = sorted(known.keys() & {domain.tier for domain in domains})
    written = [known[number] if not keep_numbers else _numbered(known[number], number) for number in numbers]
    return ClusterTopology(
        metadata=TopologyMetadata(name=object_name(name)),
        spec=TopologySpec(
            tiers=tuple(written),
            domains=tuple(_specs(domains, {number: known[number].name for number in numbers})),
        ),
    )


def object_name(name: str) -> str:
    """`name` as Kubernetes takes it for an object."""
    return _NOT_IN_NAMES.sub("-", name.casefold()).strip("-.")[:63].strip("-.") or "topology"


def _numbered(tier: TierSpec, number: int) -> TierSpec:
    return tier.model_copy(update={"tier": number})


def _specs(domains: Sequence[Placed], names: Mapping[int, str]) -> Iterable[DomainSpec]:
    """Domains from the top, each tier in the order that people count in."""
    for domain in sorted(domains, key=lambda d: (-d.tier, natural(d.name))):
        fields = {"name": _fitting(domain.name), "tier": names[domain.tier]}
        if domain.parent is not None:
            fields["parent"] = _fitting(domain.parent)
        nodes = {"nodes": tuple(_lists(domain.nodes))} if domain.nodes else {}
        yield DomainSpec.model_validate({**fields, **nodes})


def _fitting(name: str) -> str:
    """`name`, or its start and a mark that goes with the whole of it where it is too long."""
    if len(name) <= MAX_NAME:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{name[: MAX_NAME - len(mark) - 1]}-{mark}"


def _lists(nodes: Sequence[str]) -> list[str]:
    return sorted(nodes, key=natural) if len(nodes) < _SPELT_OUT else compress(nodes)


def _without_empty(domains: Sequence[Placed], notes: Notes) -> list[Placed]:
    by_name = {domain.name: domain for domain in domains}
    held: set[str] = set()
    for domain in domains:
        at: Placed | None = domain if domain.nodes else None
        while at is not None and at.name not in held:
            held.add(at.name)
            at = by_name[at.parent] if at.parent is not None else None
    empty = [domain.name for domain in domains if domain.name not in held]
    if empty:
        notes.warn(f"{len(empty)} of {len(domains)} domains hold no node and are left out: {examples(empty)}")
    return [domain for domain in domains if domain.name in held]


def _fold(domains: Sequence[Placed]) -> list[Placed]:
    """Without tiers whose every domain has the members of its one child: two tiers with equal members are one."""
    children: dict[str, list[Placed]] = {}
    for domain in domains:
        if domain.parent is not None:
            children.setdefault(domain.parent, []).append(domain)
    by_tier: dict[int, list[Placed]] = {}
    for domain in domains:
        by_tier.setdefault(domain.tier, []).append(domain)
    folded = {
        domain.name: domain.parent
        for group in by_tier.values()
        if all(not domain.nodes and len(children.get(domain.name, ())) == 1 for domain in group)
        for domain in group
    }
    kept = (domain for domain in domains if domain.name not in folded)
    return [replace(domain, parent=_above(domain.parent, folded)) for domain in kept]


def _above(parent: str | None, folded: Mapping[str, str | None]) -> str | None:
    while parent is not None and parent in folded:
        parent = folded[parent]
    return parent
