"""What the `topology` commands share: their arguments, and files to one built topology."""

import argparse
import sys
from collections.abc import Iterable
from typing import Final

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import InputError
from lws_volcano.cli.files import read_bytes, shown
from lws_volcano.topology.file import parse_nodes, parse_topologies
from lws_volcano.topology.findings import Finding, InvalidTopologyError, Severity
from lws_volcano.topology.load import build_all
from lws_volcano.topology.model import Topology

__all__ = ["add_arguments", "load_topology", "say"]

SHOWN: Final = 10
"""Errors that are written out: a file of another format has one in every line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, --nodes and --keep-going."""
    parser.add_argument("file", metavar="FILE", help="ClusterTopology as YAML or JSON, gzip too; - is standard input")
    parser.add_argument(
        "--nodes",
        metavar="FILE",
        action="append",
        default=[],
        help="Nodes of the cluster (kubectl get nodes -o yaml), to compare with and select from; repeatable",
    )
    parser.add_argument("--keep-going", action="store_true", help="leave out what is faulty and keep the rest")


def load_topology(args: argparse.Namespace) -> Topology | None:
    """The topology of the file; None when it was refused and the reasons have been said.

    Raises
    ------
    InputError
        A file that cannot be read at all.
    """
    data = read_bytes(args.file)
    nodes = _nodes(args, data)
    try:
        sources = parse_topologies(data, shown(args.file), keep_going=args.keep_going)
        topology = build_all(sources, nodes, keep_going=args.keep_going)
    except InvalidTopologyError as error:
        say(finding for finding in error.findings if finding.severity is Severity.ERROR)
        return None
    say(topology.warnings)
    return topology


def _nodes(args: argparse.Namespace, data: bytes) -> list[Node] | None:
    """Nodes of the files given for it, and those that stand beside the topology."""
    found = [parse_nodes(data, shown(args.file))]
    found += [parse_nodes(read_bytes(path), shown(path)) for path in args.nodes]
    if args.nodes and not any(found[1:]):
        raise InputError("has no Node", where=", ".join(args.nodes), mend="write it with kubectl get nodes -o yaml")
    known = [node for nodes in found for node in nodes or ()]
    return known if any(nodes is not None for nodes in found) else None


def say(findings: Iterable[Finding]) -> None:
    """Findings on standard error, errors first, and of those as many as a person mends before the next try."""
    listed = list(findings)
    errors = [finding for finding in listed if finding.severity is Severity.ERROR]
    warnings = [finding for finding in listed if finding.severity is not Severity.ERROR]
    lines = [f"{finding.severity.value}: {finding}" for finding in (*errors[:SHOWN], *warnings)]
    if len(errors) > SHOWN:
        lines.insert(SHOWN, f"error: and {len(errors) - SHOWN} more")
    for line in lines:
        print(line, file=sys.stderr)
