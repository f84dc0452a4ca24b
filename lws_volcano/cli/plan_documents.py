"""A plan as JSON (CONTRACTS section 4) and as the manifests that would be applied (YAML)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from lws_volcano.api.names import OUR_API
from lws_volcano.mapping.whole_plan import PlannedGroup, WholePlan
from lws_volcano.placement.plan_format import group_entry

__all__ = ["plan_json", "plan_yaml"]


def plan_json(plan: WholePlan, warnings: Sequence[str], timings: Mapping[str, float] | None) -> str:
    """The whole plan; byte for byte the same for the same input, `timings` apart."""
    document = {
        "apiVersion": OUR_API,
        "kind": "Plan",
        "groups": [_group(group) for group in plan.groups],
        "podGroups": list(plan.pod_groups),
        "hyperNodes": list(plan.hyper_nodes),
        "warnings": list(dict.fromkeys([*warnings, *plan.refused, *plan.warnings])),
        **({"timings": dict(timings)} if timings is not None else {}),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def plan_yaml(plan: WholePlan) -> str:
    """HyperNodes first, then PodGroups: what could be applied by hand; why groups are not placed in comments above."""
    manifests = [*plan.hyper_nodes, *plan.pod_groups]
    text = str(yaml.safe_dump_all(manifests, sort_keys=False, explicit_start=True)) if manifests else ""
    return "".join(f"# {line}\n" for line in _reasons(plan)) + text


def _reasons(plan: WholePlan) -> Iterator[str]:
    for group in plan.groups:
        if group.reason:
            offline = group.offline
            yield f"{offline.lws.key}-{offline.index}: {' '.join(group.reason.split())}"


def _group(group: PlannedGroup) -> dict[str, Any]:
    """An entry; a group without a place (no nodes known, or no PodGroup) has the same fields, empty."""
    if group.placed is not None:
        return group_entry(group.placed)
    offline = group.offline
    return {
        "namespace": offline.lws.namespace,
        "lws": offline.lws.name,
        "group": offline.index,
        "podGroup": offline.pod_group,
        "feasible": group.feasible,
        "reason": group.reason,
        "domain": None,
        "pods": [],
        "quality": None,
        "alternatives": [],
    }
