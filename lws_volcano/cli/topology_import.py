"""`topology import`: a ClusterTopology from what a site has, on standard output; remarks go to standard error."""

import argparse
import json
import sys
from typing import Any

import yaml

from lws_volcano.api.errors import UsageError
from lws_volcano.cli.files import read_bytes, shown
from lws_volcano.cli.topology_files import say
from lws_volcano.topology.findings import InvalidTopologyError
from lws_volcano.topology.hostlist import expand_all
from lws_volcano.topology.importers.nodes import NodeList, node_list
from lws_volcano.topology.importers.registry import FORMATS, import_topology
from lws_volcano.topology.importers.source import Source, decode

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    formats = "\n".join(f"  {name:16} {summary}" for name, summary in FORMATS.items())
    parser = subparsers.add_parser(
        "import",
        help="make a ClusterTopology from what you have",
        description="Print a ClusterTopology made from FILE.",
        epilog=f"formats:\n{formats}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="what to import, may be gzipped; - is standard input")
    parser.add_argument("--from", dest="form", required=True, choices=list(FORMATS), metavar="FORMAT", help="see below")
    parser.add_argument(
        "--nodes", metavar="FILE", help="nodes of the cluster (kubectl get nodes -o json, or names): only they are kept"
    )
    parser.add_argument("--topology-name", default="", metavar="NAME", help="which topology of the file, and its name")
    parser.add_argument(
        "--ignore",
        nargs="+",
        action="extend",
        default=[],
        metavar="SWITCH",
        help="switches to leave out, host ranges too",
    )
    parser.add_argument(
        "--level", nargs="+", action="extend", default=[], metavar="KEY", help="node-labels: label keys, closest first"
    )
    parser.add_argument("--keep-going", action="store_true", help="import what is sound, list the rest")
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="default: yaml")


def run(args: argparse.Namespace) -> int:
    """Print the document; exit code 1, and nothing on standard output, when there is none.

    Raises
    ------
    InputError
        A file that can't be read or is not of the format, or options that don't go together.
    """
    if args.level and args.form != "node-labels":
        raise UsageError(f"--level is for --from node-labels, not {args.form}")
    nodes = _nodes(args.nodes)
    source = Source(
        shown(args.file),
        decode(read_bytes(args.file), shown(args.file)),
        nodes=None if nodes is None else nodes.labels,
        instances={} if nodes is None else nodes.instances,
        topology_name=args.topology_name,
        ignore=frozenset(expand_all(args.ignore)),
        levels=tuple(args.level),
        keep_going=args.keep_going,
    )
    try:
        imported = import_topology(args.form, source)
    except InvalidTopologyError as error:
        say(error.findings)
        return 1
    say(imported.findings)
    sys.stdout.write(_written(imported.document.manifest(), args.output))
    return 0


def _nodes(path: str | None) -> NodeList | None:
    return None if path is None else node_list(Source(shown(path), decode(read_bytes(path), shown(path))))


def _written(manifest: dict[str, Any], output: str) -> str:
    if output == "json":
        return json.dumps(manifest, indent=2) + "\n"
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(manifest, Dumper=dumper, sort_keys=False, width=120, default_flow_style=False)
