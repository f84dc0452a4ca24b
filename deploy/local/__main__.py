"""The local control plane from the command line.

python -m deploy.local build               build the programs into the cache folder
python -m deploy.local up [--nodes 32]     start it, print its kubeconfig, stay until Ctrl-C
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from deploy.local.binaries import binaries
from deploy.local.components import Options
from deploy.local.control_plane import ControlPlane
from deploy.local.errors import LocalError
from deploy.local.nodes import create_nodes, nodes_from_topology, rack_nodes
from deploy.local.programs import start_programs

OUR_CRDS = Path(__file__).resolve().parents[2] / "crds"


def main() -> int:
    """Exit code: 0 fine, 1 it could not be built or started, 2 wrong usage."""
    arguments = _parser().parse_args()
    try:
        if arguments.command == "build":
            print(binaries().folder)
        else:
            asyncio.run(_up(arguments))
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.local", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the programs and print their folder")
    up = commands.add_parser("up", help="start a control plane and stay until Ctrl-C")
    nodes = up.add_mutually_exclusive_group()
    nodes.add_argument("--nodes", type=int, default=16, help="so many nodes of 8 GPUs, 4 a rack, 4 racks a spine")
    nodes.add_argument("--topology", type=Path, help="the nodes that a ClusterTopology file names")
    up.add_argument("--bare", action="store_true", help="without LeaderWorkerSet and Volcano")
    up.add_argument("--period", type=float, default=1.0, help="seconds between two scheduling sessions")
    up.add_argument("--statefulset-syncs", type=int, default=10, help="StatefulSets synced at the same time")
    up.add_argument("--kube-api-qps", type=int, default=1000, help="requests a second of the controller manager")
    return parser


async def _up(arguments: argparse.Namespace) -> None:
    wanted = nodes_from_topology(arguments.topology) if arguments.topology else rack_nodes(arguments.nodes)
    options = Options(statefulset_syncs=arguments.statefulset_syncs, kube_api_qps=arguments.kube_api_qps)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with ControlPlane(options, crds=sorted(OUR_CRDS.glob("*.yaml"))) as plane:
        if not arguments.bare:
            await start_programs(plane, period=arguments.period)
        async with plane.api() as api:
            await create_nodes(api, wanted)
        print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
        print(f"{len(wanted)} nodes, logs in {plane.logs}, stop with Ctrl-C", file=sys.stderr, flush=True)
        await _until(ended, plane)
    print("stopped", file=sys.stderr)


async def _until(ended: asyncio.Event, plane: ControlPlane) -> None:
    """Until asked to end, or a program has ended by itself."""
    while not ended.is_set():
        for child in plane.supervisor.children.values():
            child.check()
        try:
            await asyncio.wait_for(ended.wait(), 1)
        except TimeoutError:
            continue


if __name__ == "__main__":
    sys.exit(main())
