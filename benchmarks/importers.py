"""Imports of 1,000, 10,000 and 50,000 nodes in every format: time and peak memory.

Run with `python -m benchmarks.importers [NODES...]`. Time is the processor time of the second of two runs, memory
the peak of Python objects in another one (`tracemalloc` slows a run down). Units of 32 nodes, 32 units under
each spine group, all under one root; four rails where the format has cables.
"""

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from lws_volcano.topology.importers.registry import FORMATS, import_topology
from lws_volcano.topology.importers.source import Source

SIZES: Final = (1_000, 10_000, 50_000)
UNIT: Final = 32
RAILS: Final = 4


def node(at: int) -> str:
    """Name of a node."""
    return f"gpu-{at:05}"


def units(count: int) -> Iterator[tuple[int, list[str]]]:
    """Units and their nodes."""
    for start in range(0, count, UNIT):
        yield start // UNIT, [node(at) for at in range(start, min(start + UNIT, count))]


def groups(count: int) -> Iterator[tuple[int, list[int]]]:
    """Groups and their units."""
    total = -(-count // UNIT)
    for start in range(0, total, UNIT):
        yield start // UNIT, list(range(start, min(start + UNIT, total)))


def slurm_conf(count: int) -> str:
    """A tree of three tiers, host names spelt out."""
    lines = [f"SwitchName=leaf{unit} Nodes={','.join(names)}" for unit, names in units(count)]
    lines += [f"SwitchName=spine{at} Switches=leaf[{inside[0]}-{inside[-1]}]" for at, inside in groups(count)]
    return "\n".join([*lines, f"SwitchName=core Switches=spine[0-{len(list(groups(count))) - 1}]"])


def slurm_yaml(count: int) -> str:
    """The same as topology.yaml."""
    switches = [{"switch": f"leaf{unit}", "nodes": ",".join(names)} for unit, names in units(count)]
    switches += [{"switch": f"spine{at}", "children": f"leaf[{i[0]}-{i[-1]}]"} for at, i in groups(count)]
    return json.dumps([{"topology": "t", "tree": {"switches": switches}}])


def topograph_graph(count: int) -> str:
    """Two switches for each instance, NVLink domains of half a unit."""
    key = "accelerator.topograph.run/domain"
    listed = [
        {
            "id": node(at),
            "network_layers": [f"leaf{at // UNIT}", f"spine{at // UNIT**2}"],
            "labels": {key: f"d{at // 16}"},
        }
        for at in range(count)
    ]
    return json.dumps({"instances": listed})


def topograph_model(count: int) -> str:
    """Blocks on leaves."""
    spines = {f"spine{at}": {"switches": [f"leaf{unit}" for unit in inside]} for at, inside in groups(count)}
    blocks = [{"switch": f"leaf{unit}", "nodes": names} for unit, names in units(count)]
    return json.dumps({"switches": spines, "blocks": blocks})


def nodes(count: int) -> list[dict[str, Any]]:
    """Nodes with two labels."""
    return [
        {
            "kind": "Node",
            "metadata": {
                "name": node(at),
                "labels": {"example.com/rack": f"r{at // UNIT}", "example.com/row": f"w{at // UNIT**2}"},
            },
        }
        for at in range(count)
    ]


def listed(*objects: Mapping[str, Any]) -> str:
    """A List."""
    return json.dumps({"kind": "List", "items": objects})


def level_list(group: str, kind: str, levels: Sequence[Mapping[str, str]]) -> Callable[[int], str]:
    """An object with levels, and nodes."""
    head = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "t"}, "spec": {"levels": levels}}
    return lambda count: listed(head, *nodes(count))


def hypernodes(count: int) -> str:
    """Racks by label, rows by name."""
    racks = [
        hypernode(
            f"r{unit}",
            1,
            {"type": "Node", "selector": {"labelMatch": {"matchLabels": {"example.com/rack": f"r{unit}"}}}},
        )
        for unit, _ in units(count)
    ]
    rows = [
        hypernode(
            f"w{at}", 2, *({"type": "HyperNode", "selector": {"exactMatch": {"name": f"r{unit}"}}} for unit in inside)
        )
        for at, inside in groups(count)
    ]
    return listed(*racks, *rows, *nodes(count))


def hypernode(name: str, tier: int, *members: Mapping[str, Any]) -> dict[str, Any]:
    """A HyperNode."""
    return {"kind": "HyperNode", "metadata": {"name": name}, "spec": {"tier": tier, "members": members}}


def ibnetdiscover(count: int) -> str:
    """Four rails a unit, four spines a group and rail."""
    lines: list[str] = []
    for unit, names in units(count):
        for rail in range(RAILS):
            lines += section(unit, rail, names)
    for at, inside in groups(count):
        for rail in range(RAILS):
            lines += ["", f'Switch\t65 "S-{10**6 + at * RAILS + rail:016x}"\t\t# "MF0;spine-{at}-{rail}:Q/U1" lid 1']
            lines += [
                f'[{n}]\t"S-{unit * RAILS + rail:016x}"[40]\t\t# "leaf" lid 1 4xNDR' for n, unit in enumerate(inside)
            ]
    return "\n".join(lines)


def section(unit: int, rail: int, names: Sequence[str]) -> Iterator[str]:
    """One leaf."""
    yield ""
    yield f'Switch\t65 "S-{unit * RAILS + rail:016x}"\t\t# "MF0;leaf-{unit}-{rail}:Q/U1" lid 1'
    for at, name in enumerate(names):
        adapter = 2 * 10**6 + (unit * UNIT + at) * RAILS + rail
        yield f'[{at}]\t"H-{adapter:016x}"[1](0)\t\t# "{name} mlx5_{rail}" lid 1 4xNDR'


def lldp(count: int) -> str:
    """Two rails and a storage switch for each group."""
    return json.dumps(
        {
            name: {"lldp": {"interface": [seen(f"leaf{unit}a"), seen(f"leaf{unit}b"), seen(f"stor{unit // UNIT}")]}}
            for unit, names in units(count)
            for name in names
        }
    )


def seen(switch: str) -> dict[str, Any]:
    """A neighbour."""
    return {"eth0": {"chassis": {switch: {"capability": [{"type": "Bridge", "enabled": True}]}}}}


LABELS: Final = ("example.com/row", "example.com/rack")
MAKERS: Final[Mapping[str, Callable[[int], str]]] = {
    "slurm-conf": slurm_conf,
    "slurm-yaml": slurm_yaml,
    "topograph-graph": topograph_graph,
    "topograph-model": topograph_model,
    "node-labels": lambda count: listed(*nodes(count)),
    "ibnetdiscover": ibnetdiscover,
    "lldp": lldp,
    "hypernodes": hypernodes,
    "kueue": level_list("kueue.x-k8s.io", "Topology", [{"nodeLabel": key} for key in LABELS]),
    "kai": level_list("kai.scheduler", "Topology", [{"nodeLabel": key} for key in LABELS]),
    "grove": level_list("grove.io", "ClusterTopologyBinding", [{"key": key, "domain": key[-3:]} for key in LABELS]),
}


def measure(form: str, count: int) -> tuple[float, float, float]:
    """Size of the text in MB, seconds, and MB at the peak."""
    source = Source(form, MAKERS[form](count), levels=LABELS[::-1])
    import_topology(form, source)
    start = time.process_time()
    import_topology(form, source)
    seconds = time.process_time() - start
    tracemalloc.start()
    import_topology(form, source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return len(source.text) / 1e6, seconds, peak / 1e6


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=SIZES, metavar="NODES", help="default: %(default)s")
    sizes: Sequence[int] = parser.parse_args(argv).nodes
    print(f"{'format':16} {'nodes':>7} {'text MB':>8} {'seconds':>8} {'us/node':>8} {'peak MB':>8}")
    for form in FORMATS:
        for count in sizes:
            text, seconds, peak = measure(form, count)
            print(
                f"{form:16} {count:7} {text:8.1f} {seconds:8.2f} {seconds / count * 1e6:8.1f} {peak:8.0f}", flush=True
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
