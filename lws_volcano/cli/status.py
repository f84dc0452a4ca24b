"""`lws-volcano status`: one row a group, counted from pods (the PodGroup's phase lies after a restart)."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from lws_volcano.api.errors import InputError
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.cli.arguments import add_cluster_arguments, add_settings_argument, add_topology_argument
from lws_volcano.cli.live import in_cluster, look, require
from lws_volcano.cli.settings import load_settings
from lws_volcano.cli.table import table
from lws_volcano.mapping.changes import GroupStatus, LwsPlan
from lws_volcano.mapping.plan import plan_lws
from lws_volcano.state.catalog import Resolution
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.snapshots import snapshot

__all__ = ["add_parser", "run"]

COLUMNS: Final = (
    "NAMESPACE", "LWS", "GROUP", "PODGROUP", "PHASE", "CREATED", "PLACED", "RUNNING",
    "DOMAIN", "TIERS", "RING", "HINTS", "REASON",
)  # fmt: skip
_HINTS: Final = {None: "", True: "followed", False: "not followed"}


def add_parser(subparsers: Any) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "status",
        help="one row a group: placed or not, where, and why not",
        description="One row a group: placed or not, where, and why not.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="one LeaderWorkerSet")
    parser.add_argument("-n", "--namespace", metavar="NS", help="one namespace (default: all)")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")
    add_settings_argument(parser)
    add_topology_argument(parser)
    add_cluster_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the groups; 1 when a LeaderWorkerSet was named and is not there."""
    settings = load_settings(args.config)
    cluster = in_cluster(args, lambda client: look(client, settings, topology=args.topology))
    require(cluster.kinds.lws, cluster.kinds.pods)
    chosen = sorted(_chosen(cluster, args.namespace, args.name), key=lambda lws: lws.key)
    if args.name and not chosen:
        where = f"namespace {args.namespace}" if args.namespace else "any namespace"
        raise InputError(f"no LeaderWorkerSet {args.name} in {where}", mend="check the name and --namespace")
    plans = [(lws, _plan(cluster, lws, settings)) for lws in chosen]
    _warn(cluster.resolution)
    print(_json(cluster, plans) if args.output == "json" else _table(cluster, plans))
    return 0


def _warn(resolution: Resolution) -> None:
    """Topologies that the answer goes without."""
    for name, entry in resolution.entries.items():
        if entry.refused:
            why = f": {entry.findings[0]}" if entry.findings else ""
            print(f"warning: ClusterTopology {name} is refused{why}", file=sys.stderr)


def _chosen(cluster: Cluster, namespace: str | None, name: str | None) -> Iterable[LeaderWorkerSet]:
    for lws in cluster.kinds.lws.store:
        if namespace in (None, lws.namespace) and name in (None, lws.name):
            yield lws


def _plan(cluster: Cluster, lws: LeaderWorkerSet, settings: Settings) -> LwsPlan:
    seen = snapshot(cluster, lws.key, settings, datetime.now(UTC))
    return plan_lws(seen) if seen else LwsPlan()


def _rows(cluster: Cluster, lws: LeaderWorkerSet, plan: LwsPlan) -> Iterable[dict[str, Any]]:
    for group in plan.groups:
        pod_group = cluster.kinds.pod_groups.store.get(f"{lws.namespace}/{group.pod_group}")
        yield {
            "namespace": lws.namespace,
            "lws": lws.name,
            "group": group.group,
            "revision": group.revision,
            "podGroup": group.pod_group if pod_group else "",
            "phase": pod_group.status.phase if pod_group else "",
            "size": group.size,
            "created": group.created,
            "placed": group.placed,
            "running": group.running,
            **_where(group),
            "reason": str(group.reason),
            "message": group.message,
        }


def _where(group: GroupStatus) -> dict[str, Any]:
    where = group.where
    return {
        "domain": where.domain if where else "",
        "tier": where.tier if where else None,
        "ringCost": where.ring_cost if where else None,
        "plannedRingCost": where.planned_cost if where else None,
        "followed": where.followed if where else None,
    }


def _ring(row: Mapping[str, Any]) -> str:
    """Ring cost over that of the plan; empty where there is no plan, or nothing to be had by one."""
    return f"{row['ringCost'] / row['plannedRingCost']:.2f}" if row["plannedRingCost"] else ""


def _table(cluster: Cluster, plans: Sequence[tuple[LeaderWorkerSet, LwsPlan]]) -> str:
    lines = [
        (
            row["namespace"], row["lws"], row["group"], row["podGroup"], row["phase"],
            f"{row['created']}/{row['size']}", f"{row['placed']}/{row['size']}", f"{row['running']}/{row['size']}",
            row["domain"], "" if row["tier"] is None else str(row["tier"]), _ring(row), _HINTS[row["followed"]],
            f"{row['reason']}: {row['message']}" if row["message"] else row["reason"],
        )
        for lws, plan in plans
        for row in _rows(cluster, lws, plan)
    ]  # fmt: skip
    notes = [
        f"{lws.key}: {plan.condition.reason}: {plan.condition.message}"
        for lws, plan in plans
        if plan.condition and not plan.groups
    ]
    return "\n".join([table(COLUMNS, lines) if lines else "no groups", *notes])


def _json(cluster: Cluster, plans: Sequence[tuple[LeaderWorkerSet, LwsPlan]]) -> str:
    groups = [row for lws, plan in plans for row in _rows(cluster, lws, plan)]
    conditions = [
        {
            "namespace": lws.namespace,
            "lws": lws.name,
            "status": plan.condition.status,
            "reason": str(plan.condition.reason),
            "message": plan.condition.message,
        }
        for lws, plan in plans
        if plan.condition
    ]
    return json.dumps({"groups": groups, "conditions": conditions}, indent=2)
