"""Short ways to documents, nodes and topologies, and hypothesis strategies for random ones."""

from typing import Any

from hypothesis import strategies as st

from lws_volcano.api.cluster import Node
from lws_volcano.api.volcano import HyperNode
from lws_volcano.topology.build import build
from lws_volcano.topology.findings import InvalidTopologyError
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology

RACK_SPINE = ("rack", "spine")


def document(domains: list[dict[str, Any]], tiers: Any = RACK_SPINE, **spec: Any) -> ClusterTopology:
    """A document; tiers as names or as entries."""
    entries = [{"name": tier} if isinstance(tier, str) else tier for tier in tiers]
    raw = {"metadata": {"name": "dc1"}, "spec": {"tiers": entries, "domains": domains, **spec}}
    return ClusterTopology.model_validate(raw)


def domain(name: str, tier: str | int, nodes: str = "", parent: str | None = None, **more: Any) -> dict[str, Any]:
    """A domain entry."""
    entry: dict[str, Any] = {"name": name, "tier": tier, **more}
    if nodes:
        entry["nodes"] = [nodes]
    if parent:
        entry["parent"] = parent
    return entry


def node(name: str, **labels: str) -> Node:
    """A node with labels."""
    return Node.parse({"kind": "Node", "metadata": {"name": name, "labels": labels}})


def nodes(*names: str) -> list[Node]:
    """Nodes without labels."""
    return [node(name) for name in names]


def hypernode(manifest: dict[str, Any]) -> HyperNode:
    """What the API server would give back for a manifest."""
    return HyperNode.parse(manifest)


def refusal(*args: Any, **kwargs: Any) -> list[str]:
    """The findings with which a document is refused."""
    try:
        build(*args, **kwargs)
    except InvalidTopologyError as error:
        return [str(finding) for finding in error.findings]
    raise AssertionError("it was accepted")


def sets(topology: Topology, tier: int) -> list[set[str]]:
    """The sets of nodes of one tier's domains that have nodes, in order."""
    return [set(topology.members(i)) for i, d in enumerate(topology.domains) if d.tier == tier and len(d)]


@st.composite
def trees(draw: st.DrawFn, most_nodes: int = 12, topology: str = "dc1") -> ClusterTopology:
    """A sound document: random tree over few tiers, nodes attached anywhere, numbers with gaps."""
    numbers = draw(st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True).map(sorted))
    latency = draw(st.sampled_from([None, "1.2345678us", "800ns"]))
    tiers = [{"name": f"t{number}", "tier": number, "latency": latency} for number in numbers]
    count = draw(st.integers(1, 6))
    entries: list[dict[str, Any]] = []
    for at in range(count):
        tier = draw(st.sampled_from(numbers))
        parents = [entry["name"] for entry in entries if entry["tier"] > tier]
        entry: dict[str, Any] = {"name": f"d{at}", "tier": tier, "nodes": []}
        if parents and (parent := draw(st.sampled_from([None, *parents]))):
            entry["parent"] = parent
        entries.append(entry)
    for at in range(draw(st.integers(0, most_nodes))):
        home = draw(st.integers(-1, count - 1))
        if home >= 0:
            entries[home]["nodes"].append(f"n{at}")
    raw = {"metadata": {"name": topology}, "spec": {"tiers": tiers, "domains": draw(st.permutations(entries))}}
    return ClusterTopology.model_validate(raw)


@st.composite
def graphs(draw: st.DrawFn) -> ClusterTopology:
    """Any document at all: parents, tiers and nodes drawn without regard to sense."""
    names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
    hosts = st.sampled_from(["n1", "n2", "n[1-3]", "n[3-5]", "n[2-1]", "n[", "", "n6,n7"])
    tier = st.one_of(st.integers(0, 4), st.sampled_from(["x", "y", "z", "1"]))
    entry = st.fixed_dictionaries(
        {"name": names, "tier": tier, "nodes": st.lists(hosts, max_size=3)}, optional={"parent": names}
    )
    level = st.fixed_dictionaries(
        {"name": st.sampled_from("xyz")},
        optional={"tier": st.integers(0, 4), "bandwidth": st.sampled_from([1, 2.5, "3GB/s", "x", "-1", 0])},
    )
    override = st.fixed_dictionaries({"nodes": st.lists(hosts, max_size=2)}, optional={"domain": names})
    spec = {
        "tiers": draw(st.lists(level, max_size=4)),
        "domains": draw(st.lists(entry, max_size=8)),
        "ignore": draw(st.lists(names, max_size=2)),
        "overrides": draw(st.lists(override, max_size=2)),
    }
    return ClusterTopology.model_validate({"metadata": {"name": "any"}, "spec": spec})
