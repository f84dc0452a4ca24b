"""A topology back to a document, and to the JSON of `topology show`."""

from typing import Any

from lws_volcano.topology.hostlist import compress
from lws_volcano.topology.model import ACROSS, Topology
from lws_volcano.topology.rates import format_bandwidth, format_latency
from lws_volcano.topology.schema import ClusterTopology, DomainSpec, TierSpec, TopologyMetadata, TopologySpec

__all__ = ["describe", "to_document"]


def to_document(topology: Topology) -> ClusterTopology:
    """A document that builds to the same tree: every node by name, every tier with number and bandwidth."""
    tiers = tuple(
        TierSpec(
            name=tier.name,
            tier=None if tier.number == position else tier.number,
            bandwidth=format_bandwidth(tier.bandwidth),
            latency=None if tier.latency is None else format_latency(tier.latency),
        )
        for position, tier in enumerate(topology.tiers, start=1)
    )
    domains = tuple(
        DomainSpec(
            name=domain.name,
            tier=domain.tier_name,
            parent=None if domain.parent == ACROSS else topology.domains[domain.parent].name,
            nodes=tuple(compress(topology.nodes[place] for place in topology.attached[index])),
        )
        for index, domain in enumerate(topology.domains)
    )
    lowest = min((tier.bandwidth for tier in topology.tiers), default=topology.across_bandwidth)
    across = None if topology.across_bandwidth == lowest else format_bandwidth(topology.across_bandwidth)
    spec = TopologySpec(tiers=tiers, domains=domains, across_bandwidth=across)
    return ClusterTopology(metadata=TopologyMetadata(name=topology.name), spec=spec)


def describe(topology: Topology) -> dict[str, Any]:
    """The JSON of `topology show -o json`; `nodes` of a domain are all that are in it, deeper ones included."""
    return {
        "name": topology.name,
        "tiers": [
            {"tier": tier.number, "name": tier.name, "bandwidthGBps": tier.gbps}
            | ({} if tier.latency is None else {"latencyMicroseconds": float(tier.latency)})
            for tier in topology.tiers
        ],
        "domains": [
            {
                "name": domain.name,
                "tier": domain.tier,
                "parent": None if domain.parent == ACROSS else topology.domains[domain.parent].name,
                "nodes": list(topology.members(index)),
            }
            for index, domain in enumerate(topology.domains)
        ],
        "nodes": len(topology.nodes),
        "warnings": [str(finding) for finding in topology.warnings],
    }
