"""`lws-volcano topology show FILE`: a topology as a tree, JSON or a picture."""

import argparse
import json
import sys

from lws_volcano.cli.topology_files import add_arguments, load_topology
from lws_volcano.topology.document import describe
from lws_volcano.topology.model import Topology
from lws_volcano.topology.tree_svg import tree_svg
from lws_volcano.topology.tree_text import tree_text


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("show", help="draw a topology", description="Draw a topology.")
    add_arguments(parser)
    parser.add_argument("-o", "--output", choices=("tree", "json", "svg"), default="tree", help="default: tree")


def run(args: argparse.Namespace) -> int:
    """0, or 1 when the file was refused."""
    topology = load_topology(args)
    if topology is None:
        return 1
    sys.stdout.write(_drawn(topology, args.output))
    return 0


def _drawn(topology: Topology, output: str) -> str:
    match output:
        case "json":
            return json.dumps(describe(topology), indent=1, ensure_ascii=False) + "\n"
        case "svg":
            return tree_svg(topology)
        case _:
            return tree_text(topology)
