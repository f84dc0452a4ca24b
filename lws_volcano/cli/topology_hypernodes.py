"""`lws-volcano topology hypernodes FILE`: the HyperNodes that the controller would keep for a topology."""

import argparse
import json
import sys

import yaml

from lws_volcano.cli.topology_files import add_arguments, load_topology
from lws_volcano.topology.hypernodes import EXACT_LIMIT, desired_hypernodes


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    text = "Print the HyperNodes of a topology, closest tiers first: in this order they can be applied."
    parser = commands.add_parser("hypernodes", help="print the HyperNodes of a topology", description=text)
    add_arguments(parser)
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="default: yaml")
    parser.add_argument(
        "--exact-limit",
        type=int,
        default=EXACT_LIMIT,
        metavar="N",
        help=f"list up to N nodes one by one, longer lists by label where that says the same (default: {EXACT_LIMIT})",
    )


def run(args: argparse.Namespace) -> int:
    """0, or 1 when the file was refused."""
    topology = load_topology(args)
    if topology is None:
        return 1
    manifests = [hypernode.manifest() for hypernode in desired_hypernodes(topology, exact_limit=args.exact_limit)]
    if args.output == "json":
        json.dump({"apiVersion": "v1", "kind": "List", "items": manifests}, sys.stdout, indent=1)
        print()
    else:
        yaml.dump_all(manifests, sys.stdout, Dumper=yaml.CSafeDumper, sort_keys=False, explicit_start=True)
    return 0
