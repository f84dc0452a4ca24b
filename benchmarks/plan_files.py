"""The command line on large inputs: `python -m benchmarks.plan_files [--nodes 5000] [--pods 5000] [--groups 100]`.

A topology of racks of 16 under spines, its nodes, bound pods and one LeaderWorkerSet are written as files the way
`kubectl get -o yaml` and `-o json` print them, and `lws-volcano plan` is run on them in a process of its own: from its
start to its end, reading, planning and printing included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

_PER_RACK: Final = 16
_RACKS: Final = 20
_SIZE: Final = 8
_GPUS: Final = 8
_GPU: Final = "nvidia.com/gpu"


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 5000), ("pods", 5000), ("groups", 100)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help="default: %(default)s")
    args = parser.parse_args(argv)
    print(f"{args.nodes} nodes, {args.pods} bound pods, {args.groups} groups of {_SIZE}")
    print(f"{'format':>8} {'MB':>6} {'wall s':>7} {'processor s':>12}  exit")
    with tempfile.TemporaryDirectory() as folder:
        for form in ("json", "yaml"):
            path = Path(folder) / f"cluster.{form}"
            path.write_text(_text(args, form), encoding="utf-8")
            wall, used, code = _run(path)
            print(f"{form:>8} {path.stat().st_size / 1e6:6.1f} {wall:7.2f} {used:12.2f}  {code}")
    return 0


def _run(path: Path) -> tuple[float, float, int]:
    before, started = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "lws_volcano", "plan", "-f", str(path), "-o", "json"]
    code = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=300, check=False).returncode  # noqa: S603
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, used, code


def _text(args: argparse.Namespace, form: str) -> str:
    items = [_topology(args.nodes), _set(args.groups)]
    items += [_node(place) for place in range(args.nodes)]
    # Half of the cluster's GPUs at most: what is planned must fit.
    items += [_pod(number, number % max(args.nodes // 2, 1)) for number in range(args.pods)]
    if form == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)
    return yaml.dump_all(items, Dumper=yaml.CSafeDumper, sort_keys=False)


def _topology(nodes: int) -> dict[str, Any]:
    racks = -(-nodes // _PER_RACK)
    domains: list[dict[str, Any]] = [{"name": f"s{s}", "tier": "spine"} for s in range(-(-racks // _RACKS))]
    for rack in range(racks):
        names = [_name(place) for place in range(rack * _PER_RACK, min((rack + 1) * _PER_RACK, nodes))]
        domains.append({"name": f"r{rack}", "tier": "rack", "parent": f"s{rack // _RACKS}", "nodes": names})
    spec = {"tiers": [{"name": "rack"}, {"name": "spine"}], "domains": domains}
    metadata = {"name": "dc"}
    return {"apiVersion": "lws-volcano.io/v1alpha1", "kind": "ClusterTopology", "metadata": metadata, "spec": spec}


def _name(place: int) -> str:
    return f"gpu-{place:05}"


def _node(place: int) -> dict[str, Any]:
    room = {"cpu": "192", "memory": "2113535Mi", "ephemeral-storage": "900Gi", "pods": "110", _GPU: str(_GPUS)}
    labels = {
        "kubernetes.io/hostname": _name(place),
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "gpu-8x",
        "topology.kubernetes.io/zone": "zone-a",
    }
    kinds = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    conditions = [{"type": kind, "status": str(kind == "Ready"), "reason": "Kubelet"} for kind in kinds]
    images = [{"names": [f"example.com/serve:{tag}"], "sizeBytes": 10**9 + tag} for tag in range(8)]
    status = {"allocatable": room, "capacity": room, "conditions": conditions, "images": images}
    metadata = {"name": _name(place), "uid": f"node-{place}", "labels": labels, "annotations": {"volumes": "true"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status}


def _pod(number: int, place: int) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "example.com/serve:1",
        "command": ["serve", "--port=8080"],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
    }
    metadata = {"name": f"batch-{number}", "namespace": "other", "uid": f"pod-{number}", "labels": {"app": "batch"}}
    spec = {"nodeName": _name(place), "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def _set(groups: int) -> dict[str, Any]:
    resources = {"limits": {_GPU: str(_GPUS)}}
    container = {"name": "main", "image": "example.com/serve:1", "resources": resources}
    template = {"spec": {"schedulerName": "volcano", "containers": [container]}}
    annotations = {
        "lws-volcano.io/gang": "true",
        "volcano.sh/network-topology-mode": "hard",
        "volcano.sh/network-topology-highest-tier": "rack",
    }
    spec = {"replicas": groups, "leaderWorkerTemplate": {"size": _SIZE, "workerTemplate": template}}
    metadata = {"name": "model", "namespace": "default", "annotations": annotations}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


if __name__ == "__main__":
    raise SystemExit(main())
