"""`lws-volcano plan`: everything the controller would write and where each pod would go, without touching anything."""

import argparse
import sys
import time
from typing import Any

from lws_volcano.api.errors import UsageError
from lws_volcano.cli.arguments import add_cluster_arguments, add_settings_argument
from lws_volcano.cli.plan_documents import plan_json, plan_yaml
from lws_volcano.cli.plan_inputs import Inputs, gather
from lws_volcano.cli.plan_table import plan_table
from lws_volcano.cli.settings import load_settings
from lws_volcano.mapping.whole_plan import WholePlan, plan_everything
from lws_volcano.state.cluster import Cluster

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "plan",
        help="offline: what the controller would write and where each pod would go",
        description="Print the PodGroups and HyperNodes that the controller would write, and where each pod would go.",
    )
    parser.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        action="append",
        default=[],
        help="LeaderWorkerSets, Nodes, Pods, Queues, ClusterTopologies ... in any mix; repeatable; "
        "- is standard input, a directory its manifests",
    )
    parser.add_argument("--topology", metavar="FILE", help="a ClusterTopology file")
    parser.add_argument("--keep-going", action="store_true", help="leave out what is faulty in a topology")
    parser.add_argument(
        "-o", "--output", choices=("table", "json", "yaml", "svg"), default="table", help="default: table"
    )
    parser.add_argument("--explain", metavar="GROUP", help="why this domain, and why not the others: [NS/]LWS-INDEX")
    parser.add_argument("--timings", action="store_true", help="say how long each part took")
    parser.add_argument("--from-cluster", action="store_true", help="read the cluster too; files come on top of it")
    add_settings_argument(parser)
    add_cluster_arguments(parser.add_argument_group("with --from-cluster"))


def run(args: argparse.Namespace) -> int:
    """Print the plan; 1 when something is refused or does not fit."""
    if not args.file and not args.from_cluster:
        raise UsageError("nothing to plan", mend="give -f FILE or --from-cluster")
    started = time.perf_counter()
    inputs = _inputs(args)
    read = time.perf_counter()
    plan = plan_everything(inputs.inventory, write_hyper_nodes=inputs.own_topology)
    planned = time.perf_counter()
    timings = {"readSeconds": read - started, "planSeconds": planned - read} if args.timings else None
    if args.explain:
        from lws_volcano.cli.plan_explain import explain_text  # noqa: PLC0415 - only for this flag

        print(explain_text(plan, args.explain))
    else:
        sys.stdout.write(_text(args.output, plan, inputs, timings))
    for message in plan.refused:
        print(f"error: {message}", file=sys.stderr)
    return 0 if plan.feasible else 1


def _inputs(args: argparse.Namespace) -> Inputs:
    settings = load_settings(args.config)
    cluster = _look(args) if args.from_cluster else None
    return gather(args.file, args.topology, cluster=cluster, settings=settings, keep_going=args.keep_going)


def _look(args: argparse.Namespace) -> Cluster:
    from lws_volcano.cli.live import in_cluster, look, require  # noqa: PLC0415 - slow to import, not needed offline

    cluster = in_cluster(args, lambda client: look(client, every_pod=True))
    require(cluster.kinds.lws, cluster.kinds.nodes, cluster.kinds.pods)
    return cluster


def _text(output: str, plan: WholePlan, inputs: Inputs, timings: dict[str, float] | None) -> str:
    match output:
        case "json":
            return plan_json(plan, inputs.warnings, timings)
        case "yaml":
            return plan_yaml(plan)
        case "svg":
            from lws_volcano.cli.plan_svg import plan_svg  # noqa: PLC0415 - only for this output

            return plan_svg(plan, inputs.inventory.topology)
        case _:
            return plan_table(plan, inputs.warnings, timings)
