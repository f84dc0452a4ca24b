"""Build, validate and derive at 1,000, 10,000 and 50,000 nodes: time and peak memory.

    python -m benchmarks.topology [NODES ...]

Racks of 16 nodes, 16 racks a spine, one core; written as host ranges, as single names, and as node labels. Time is CPU
time, the best of three; memory is the peak of Python's allocations in one more run (tracing makes that one slow).
"""

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any, Final

import yaml

from lws_volcano.api.cluster import Node
from lws_volcano.topology.build import build
from lws_volcano.topology.file import parse_topologies
from lws_volcano.topology.hypernodes import desired_hypernodes
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology
from lws_volcano.topology.tree_svg import tree_svg
from lws_volcano.topology.writes import order_writes

RACK, SPINE = 16, 256
TIERS = [{"name": "rack"}, {"name": "spine"}, {"name": "core"}]
RUNS = 3
SIZES: Final = (1_000, 10_000, 50_000)


def document(nodes: int, *, ranges: bool) -> dict[str, Any]:
    """A ClusterTopology of so many nodes, by host range or one by one."""
    domains: list[dict[str, Any]] = [{"name": "core", "tier": "core"}]
    for start in range(0, nodes, RACK):
        spine = f"spine-{start // SPINE}"
        if start % SPINE == 0:
            domains.append({"name": spine, "tier": "spine", "parent": "core"})
        last = min(start + RACK, nodes)
        names = [f"gpu-[{start:05d}-{last - 1:05d}]"] if ranges else [f"gpu-{at:05d}" for at in range(start, last)]
        domains.append({"name": f"rack-{start // RACK}", "tier": "rack", "parent": spine, "nodes": names})
    return {"kind": "ClusterTopology", "metadata": {"name": "bench"}, "spec": {"tiers": TIERS, "domains": domains}}


def labelled(nodes: int) -> tuple[ClusterTopology, list[Node]]:
    """The same from labels."""
    levels = [{"tier": tier, "key": f"example.com/{tier}"} for tier in ("rack", "spine", "core")]
    raw = {"metadata": {"name": "bench"}, "spec": {"tiers": TIERS, "nodeLabels": levels}}
    cluster = []
    for at in range(nodes):
        values = {"rack": f"r{at // RACK}", "spine": f"s{at // SPINE}", "core": "c"}
        labels = {f"example.com/{tier}": value for tier, value in values.items()}
        cluster.append(Node.parse({"metadata": {"name": f"gpu-{at:05d}", "labels": labels}}))
    return ClusterTopology.model_validate(raw), cluster


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds (best of `RUNS`) and MiB (peak of one run)."""
    best = float("inf")
    for _ in range(RUNS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return best, peak / 2**20


def meetings(topology: Topology) -> int:
    """One meeting for each node, with a node far away."""
    count = len(topology.nodes)
    return sum(topology.meeting(place, (place * 7919) % count) for place in range(count))


def cases(nodes: int) -> dict[str, Callable[[], object]]:
    """What is measured."""
    ranges = yaml.safe_dump(document(nodes, ranges=True)).encode()
    single = yaml.safe_dump(document(nodes, ranges=False)).encode()
    parsed = parse_topologies(single, "bench.yaml")[0]
    wanted, cluster = labelled(nodes)
    topology = build(parsed.document, cluster)
    derived = desired_hypernodes(topology)
    return {
        "read and check YAML, ranges": lambda: parse_topologies(ranges, "bench.yaml"),
        "read and check YAML, single names": lambda: parse_topologies(single, "bench.yaml"),
        "build, no cluster": lambda: build(parsed.document),
        "build against the cluster": lambda: build(parsed.document, cluster),
        "build from labels": lambda: build(wanted, cluster),
        "meetings, one a node": lambda: meetings(topology),
        "networkx graph": lambda: build(parsed.document).graph,
        "HyperNodes": lambda: desired_hypernodes(topology),
        "first writes in order": lambda: order_writes([], derived),
        "manifests as JSON": lambda: json.dumps([hypernode.manifest() for hypernode in derived]),
        "SVG": lambda: tree_svg(topology),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=SIZES, metavar="NODES", help="default: %(default)s")
    sizes: Sequence[int] = parser.parse_args(argv).nodes
    results = {size: {name: measure(work) for name, work in cases(size).items()} for size in sizes}
    heads = "".join(f"{size:>12,} nodes      " for size in sizes)
    print(f"{'':36}{heads}growth of time")
    for name in results[sizes[0]]:
        cells = "".join(
            f"{results[size][name][0] * 1000:10.1f} ms {results[size][name][1]:6.1f} MiB " for size in sizes
        )
        growth = results[sizes[-1]][name][0] / results[sizes[0]][name][0] / (sizes[-1] / sizes[0])
        print(f"{name:36}{cells}  x{growth:.2f} of linear")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
