"""`lws-volcano topology validate FILE`: is it a topology, and what is worth knowing about it."""

import argparse

from lws_volcano.cli.files import shown
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
        print(f"{shown(args.file)}: refused")
        return 1
    faulty = any(finding.severity is Severity.ERROR for finding in topology.warnings)
    print(f"{shown(args.file)}: {'valid in part' if faulty else 'valid'}: {_summary(topology)}")
    return 0


def _summary(topology: Topology) -> str:
    parts = (
        _counted(len(topology.nodes), "node"),
        _counted(len(topology.domains), "domain"),
        _counted(len(topology.tiers), "tier"),
        _counted(len(topology.roots), "tree"),
        f"{_counted(len(topology.unplaced), 'node')} in no domain",
    )
    return ", ".join(parts)


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
