"""The strict tree of the network, immutable, with everything that planning asks of it in arrays.

Nodes of all trees stand in one depth-first order; the index of a node in it is its *place*. The nodes of a domain are
the contiguous places `lo` to `hi` (end not included), so "is this node in that domain" is two comparisons, and near
domains lie next to each other. Domains are listed depth-first too, parents before children.

A topology is made by `lws_volcano.topology.build`.

Notes
-----
`meeting` walks up from the deeper side: O(depth), about a microsecond. networkx's lowest common ancestor costs
milliseconds on such trees; the networkx graph is for export and analysis and is made on first use.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import networkx as nx

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import Finding, examples
from lws_volcano.topology.schema import NodeSelector

__all__ = ["ACROSS", "Domain", "Tier", "Topology"]

ACROSS = -1
"""In place of a domain index: no domain holds both nodes, or there is no parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """A level of the network.

    Attributes
    ----------
    number
        Smaller is closer. Numbers may have gaps.
    bandwidth
        GB/s per node between two nodes that meet at this tier.
    latency
        Microseconds, None when nobody said.
    """

    number: int
    name: str
    bandwidth: Fraction
    latency: Fraction | None = None

    @property
    def gbps(self) -> float:
        """Bandwidth in GB/s as a float, for output."""
        return float(self.bandwidth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A rack, a switch, or what else nodes share.

    Attributes
    ----------
    name
        Unique in the topology; domains made from labels carry their path, joined with dots.
    tier, tier_name
        Its level.
    parent
        Index of the parent domain, `ACROSS` for a root.
    lo, hi
        Its nodes are `Topology.nodes[lo:hi]`.
    topology
        Name of the ClusterTopology it comes from.
    """

    name: str
    tier: int
    tier_name: str
    parent: int
    lo: int
    hi: int
    topology: str = ""

    def __len__(self) -> int:
        return self.hi - self.lo

    def __contains__(self, place: object) -> bool:
        return isinstance(place, int) and self.lo <= place < self.hi


@dataclass(frozen=True, eq=False, kw_only=True)
class Topology:
    """One or several trees of domains over nodes.

    Attributes
    ----------
    name
        Name of the ClusterTopology (several joined with `+`).
    tiers
        Closest first. One number may stand here under two names when the trees come from several ClusterTopologies.
    domains
        Depth-first, parents before children. A domain whose nodes are all missing from the cluster has `lo == hi`.
    nodes
        All nodes that are in a tree, depth-first: index = place.
    domain_of
        Place -> index of the lowest domain that the node is in.
    tier_of
        Domain index -> its tier.
    unplaced
        Nodes of the cluster that are in no domain.
    across_bandwidth
        GB/s between two trees and to nodes without a domain.
    selectors
        Domain index -> labels that, in the whole cluster, exactly the nodes straight in the domain have.
    warnings
        What was found while it was built (errors too, when they were survived by `keep_going`).
    """

    name: str
    tiers: tuple[Tier, ...]
    domains: tuple[Domain, ...]
    nodes: tuple[str, ...]
    domain_of: tuple[int, ...]
    tier_of: tuple[Tier, ...]
    unplaced: tuple[str, ...] = ()
    across_bandwidth: Fraction = Fraction(1)
    selectors: Mapping[int, NodeSelector] = field(default_factory=dict)
    warnings: tuple[Finding, ...] = ()
    depth: tuple[int, ...] = field(init=False)
    parent: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        depth: list[int] = []
        for domain in self.domains:
            depth.append(0 if domain.parent == ACROSS else depth[domain.parent] + 1)
        object.__setattr__(self, "depth", tuple(depth))
        object.__setattr__(self, "parent", tuple(domain.parent for domain in self.domains))

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """Node name -> place."""
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """Domain name -> index."""
        return {domain.name: index for index, domain in enumerate(self.domains)}

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Domain index -> indices of its child domains, in order."""
        below: list[list[int]] = [[] for _ in self.domains]
        for index, parent in enumerate(self.parent):
            if parent != ACROSS:
                below[parent].append(index)
        return tuple(map(tuple, below))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Indices of the domains without a parent, one a tree."""
        return tuple(index for index, parent in enumerate(self.parent) if parent == ACROSS)

    @cached_property
    def attached(self) -> tuple[tuple[int, ...], ...]:
        """Domain index -> places of the nodes straight in it, in order."""
        own: list[list[int]] = [[] for _ in self.domains]
        for place, index in enumerate(self.domain_of):
            own[index].append(place)
        return tuple(map(tuple, own))

    @property
    def top_tier(self) -> int:
        """Highest tier number that a domain has, 0 without domains."""
        return max((domain.tier for domain in self.domains), default=0)

    def members(self, index: int) -> tuple[str, ...]:
        """Names of all nodes in a domain, deeper ones included."""
        domain = self.domains[index]
        return self.nodes[domain.lo : domain.hi]

    def ancestors(self, index: int) -> Iterator[int]:
        """The domain itself and everything above it, upwards."""
        while index != ACROSS:
            yield index
            index = self.parent[index]

    def path(self, place: int) -> tuple[str, ...]:
        """Names of the domains above a node, outermost first."""
        return tuple(self.domains[index].name for index in self.ancestors(self.domain_of[place]))[::-1]

    def meeting(self, place_a: int, place_b: int) -> int:
        """Index of the lowest domain that holds both nodes, `ACROSS` when they are in different trees."""
        return self.common(self.domain_of[place_a], self.domain_of[place_b])

    def common(self, index_a: int, index_b: int) -> int:
        """Index of the lowest domain that holds both domains, `ACROSS` when they are in different trees."""
        depth, parent = self.depth, self.parent
        while index_a != index_b:
            if depth[index_a] < depth[index_b]:
                index_a, index_b = index_b, index_a
            index_a = parent[index_a]
            if index_a == ACROSS:
                return ACROSS
        return index_a

    def tier_between(self, place_a: int, place_b: int) -> Tier | None:
        """The tier at which two nodes meet, None across trees."""
        index = self.meeting(place_a, place_b)
        return None if index == ACROSS else self.tier_of[index]

    def bandwidth_between(self, place_a: int, place_b: int) -> Fraction:
        """GB/s between two nodes; that one node is no distance from itself is the caller's to say."""
        index = self.meeting(place_a, place_b)
        return self.across_bandwidth if index == ACROSS else self.tier_of[index].bandwidth

    def resolve_tier(self, tier: str | int, root: int | None = None) -> int:
        """Number of a tier given by number or name.

        Parameters
        ----------
        tier : str or int
            A number (as text too) is taken as it is; a name is looked up.
        root : int, optional
            Index of the root of the tree that is meant, where one name has different numbers in different trees.

        Raises
        ------
        TopologyError
            No tier of that name, or a name that means different numbers.
        """
        if isinstance(tier, int) or (tier.isascii() and tier.isdigit()):
            return int(tier)
        inside = range(len(self.domains)) if root is None else range(root, self._end(root))
        found = {self.tier_of[index].number for index in inside if self.tier_of[index].name == tier}
        found = found or {known.number for known in self.tiers if known.name == tier}
        if len(found) == 1:
            return found.pop()
        raise self._no_tier(tier, found)

    def _end(self, index: int) -> int:
        """Index after the last domain below `index`."""
        after = (root for root in self.roots if root > index)
        return next(after, len(self.domains))

    def _no_tier(self, name: str, found: set[int]) -> TopologyError:
        if found:
            numbers = " and ".join(map(str, sorted(found)))
            return TopologyError(f"tier {name!r} means {numbers} in different trees", mend="write the number")
        known = ", ".join(f"{tier.name} ({tier.number})" for tier in self.tiers)
        return TopologyError(f"topology {self.name!r} has no tier {name!r}", mend=f"known are {known or 'none'}")

    @cached_property
    def graph(self) -> "nx.DiGraph[str | int]":
        """The trees as a frozen networkx graph, edges pointing down: domains by index (int), nodes by name (str)."""
        graph: nx.DiGraph[str | int] = nx.DiGraph(name=self.name)
        graph.add_nodes_from(range(len(self.domains)))
        graph.add_edges_from((parent, index) for index, parent in enumerate(self.parent) if parent != ACROSS)
        graph.add_edges_from(zip(self.domain_of, self.nodes, strict=True))
        nx.freeze(graph)
        return graph

    def __repr__(self) -> str:
        trees = examples(self.domains[root].name for root in self.roots)
        return f"<Topology {self.name}: {len(self.nodes)} nodes, {len(self.domains)} domains, trees {trees}>"
