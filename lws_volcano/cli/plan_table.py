"""A plan for the terminal: one row a group, then where its pods go, then what to know."""

from collections.abc import Mapping, Sequence
from typing import Final

from lws_volcano.cli.table import table
from lws_volcano.mapping.whole_plan import PlannedGroup, WholePlan

__all__ = ["plan_table"]

COLUMNS: Final = (
    "NAMESPACE",
    "LWS",
    "GROUP",
    "PODGROUP",
    "MIN",
    "TASKS",
    "FITS",
    "DOMAIN",
    "TIER",
    "RING",
    "NODES BY RANK",
)
_SHOWN: Final = 8
_FITS: Final = {True: "yes", False: "no", None: "?"}


def plan_table(plan: WholePlan, warnings: Sequence[str], timings: Mapping[str, float] | None) -> str:
    """The text, ended by a line feed."""
    parts = [table(COLUMNS, [_row(group) for group in plan.groups]) if plan.groups else "no groups"]
    reasons = [f"{group.offline.pod_group}: {group.reason}" for group in plan.groups if group.reason]
    if plan.hyper_nodes:
        parts.append(f"HyperNodes: {len(plan.hyper_nodes)} (-o yaml prints them)")
    parts += ["Does not fit, or gets no PodGroup:\n  " + "\n  ".join(dict.fromkeys(reasons))] if reasons else []
    notes = [*warnings, *plan.warnings]
    parts += ["To know:\n  " + "\n  ".join(notes)] if notes else []
    parts += [", ".join(f"{name} {seconds:.3f}" for name, seconds in timings.items())] if timings else []
    return "\n\n".join(parts) + "\n"


def _row(group: PlannedGroup) -> tuple[str, ...]:
    offline, placed = group.offline, group.placed
    spec = offline.manifest["spec"] if offline.manifest else {}
    domain = placed.domain if placed else None
    quality = placed.quality if placed else None
    ring = quality.ring_cost if quality else None
    return (
        offline.lws.namespace,
        offline.lws.name,
        offline.index,
        offline.pod_group if offline.manifest else "-",
        str(spec.get("minMember", "-")),
        " ".join(f"{task}={count}" for task, count in spec.get("minTaskMember", {}).items()) or "-",
        _FITS[group.feasible],
        domain.name if domain else "-",
        str(quality.highest_tier) if quality and quality.highest_tier is not None else "-",
        "-" if ring is None else f"{ring:.4g}",
        _nodes([pod.node for pod in placed.pods]) if placed else "",
    )


def _nodes(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return " ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
