"""Several ClusterTopologies in one cluster, as one topology: their trees side by side.

Each keeps its own tiers, so that one name may mean different numbers in different trees. A node that two of them claim
stays with the first by name; a domain name that two of them use gets the name of its ClusterTopology before it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lws_volcano.topology.findings import UNPLACED, Finding, Severity, examples, unplaced_finding
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.model import ACROSS, Domain, Tier, Topology
from lws_volcano.topology.schema import NodeSelector

__all__ = ["merge"]


@dataclass(slots=True)
class _Joined:
    domains: list[Domain] = field(default_factory=list)
    tier_of: list[Tier] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    domain_of: list[int] = field(default_factory=list)
    selectors: dict[int, NodeSelector] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    disputed: dict[tuple[str, str], list[str]] = field(default_factory=dict)


def merge(topologies: Sequence[Topology]) -> Topology:
    """One topology of all trees, in the order of the names of the ClusterTopologies.

    Raises
    ------
    ValueError
        Nothing to merge.
    """
    if not topologies:
        raise ValueError("no topology to merge")
    if len(topologies) == 1:
        return topologies[0]
    ordered = sorted(topologies, key=lambda topology: natural(topology.name))
    uses = Counter(domain.name for topology in ordered for domain in topology.domains)
    joined = _Joined()
    for topology in ordered:
        _append(joined, topology, uses)
    placed = joined.owner.keys()
    unplaced = tuple(sorted({node for topology in ordered for node in topology.unplaced} - placed, key=natural))
    name = "+".join(topology.name for topology in ordered)
    return Topology(
        name=name,
        tiers=_tiers(ordered),
        domains=tuple(joined.domains),
        nodes=tuple(joined.nodes),
        domain_of=tuple(joined.domain_of),
        tier_of=tuple(joined.tier_of),
        unplaced=unplaced,
        across_bandwidth=min(topology.across_bandwidth for topology in ordered),
        selectors=joined.selectors,
        warnings=(*_warnings(ordered), *_disputes(joined), *_unplaced(name, unplaced)),
    )


def _append(joined: _Joined, topology: Topology, uses: Counter[str]) -> None:
    first, start = len(joined.domains), len(joined.nodes)
    places = [start]
    for node, home in zip(topology.nodes, topology.domain_of, strict=True):
        owner = joined.owner.setdefault(node, topology.name)
        if owner == topology.name:
            joined.nodes.append(node)
            joined.domain_of.append(first + home)
        else:
            joined.disputed.setdefault((owner, topology.name), []).append(node)
        places.append(len(joined.nodes))
    for domain in topology.domains:
        name = domain.name if uses[domain.name] == 1 else f"{topology.name}.{domain.name}"
        parent = ACROSS if domain.parent == ACROSS else first + domain.parent
        joined.domains.append(replace(domain, name=name, parent=parent, lo=places[domain.lo], hi=places[domain.hi]))
    joined.tier_of += topology.tier_of
    whole = len(joined.nodes) - start == len(topology.nodes)
    joined.selectors |= {first + at: selector for at, selector in topology.selectors.items() if whole}


def _tiers(topologies: Sequence[Topology]) -> tuple[Tier, ...]:
    tiers = dict.fromkeys(tier for topology in topologies for tier in topology.tiers)
    return tuple(sorted(tiers, key=lambda tier: tier.number))


def _warnings(topologies: Sequence[Topology]) -> Iterator[Finding]:
    """Their own; that a node is in no domain of one of them says nothing when another has it."""
    for topology in topologies:
        yield from (finding for finding in topology.warnings if finding.about != UNPLACED)


def _unplaced(name: str, nodes: Sequence[str]) -> Iterator[Finding]:
    if nodes:
        yield unplaced_finding(nodes, f"ClusterTopologies {name}")


def _disputes(joined: _Joined) -> Iterator[Finding]:
    for (owner, other), nodes in joined.disputed.items():
        yield Finding(
            severity=Severity.WARNING,
            what=f"{len(nodes)} nodes are in ClusterTopology {owner} and in {other}: {examples(nodes)}",
            where=f"ClusterTopology {other}",
            mend=f"they stay with {owner}; take them out of one of the two",
        )
