"""`lws-volcano topology validate FILE`: is it a topology, and what is worth knowing about it."""

import argparse

from lws_volcano.cli.topology_files import add_arguments, load_topology
from lws_volcano.topology.findings import Severity
from lws_volcano.topology.model import Topology


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("validate", help="check a topology file", description="Check a topology file.")
    add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0 when the file is a set of strict trees, with --keep-going also when a part of it is; 1 when it was refused."""
    topology = load_topology(args)
    if topology is None:
        print(f"{args.file}: refused")
        return 1
    faulty = any(finding.severity is Severity.ERROR for finding in topology.warnings)
    print(f"{args.file}: {'valid in part' if faulty else 'valid'}: {_summary(topology)}")
    return 0


def _summary(topology: Topology) -> str:
    trees = len(topology.roots)
    parts = (
        f"{len(topology.nodes)} nodes",
        f"{len(topology.domains)} domains",
        f"{len(topology.tiers)} tiers",
        "1 tree" if trees == 1 else f"{trees} trees",
        f"{len(topology.unplaced)} nodes in no domain",
    )
    return ", ".join(parts)
