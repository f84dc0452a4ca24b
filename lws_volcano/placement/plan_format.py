"""Plans as JSON: an entry of `plan -o json`, and the annotation that carries a plan on the leader pod and the PodGroup.

The annotation is the same entry without blanks, with fewer alternatives, and with what every replica of the webhook
needs to give each worker the same hints: `order` (the tier and the domains whose nodes are ordered), `placement`,
and, when it is so, `within` (the domain of the placement group) and `leaderFirst`. About 4 KB for a group of 8 with 32
alternatives, 8 KB for one of 128; never more than `ALTERNATIVE_PODS` nodes are listed in alternatives besides the
chosen ones, and pods of groups larger than 64 are listed without their path, which follows from the topology.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.api.errors import InputError
from lws_volcano.api.names import PLAN
from lws_volcano.placement.order import Order
from lws_volcano.placement.plan import Alternative, GroupPlan
from lws_volcano.placement.quality import Quality

__all__ = ["ALTERNATIVE_PODS", "Note", "group_entry", "read_annotation", "write_annotation"]

ALTERNATIVE_PODS: Final = 256
"""Most nodes listed in the alternatives of an annotation, the chosen one apart."""
_PATHS: Final = 64
"""Largest group whose pods are listed with their paths in an annotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What an annotation says, as far as hints depend on it.

    Attributes
    ----------
    domain
        The planned domain, empty across trees and when infeasible.
    nodes
        Planned node by rank; empty when infeasible.
    alternatives
        Best first, the chosen one included.
    order
        Where nodes are ordered; None without a topology.
    placement
        `none`, `preferred` or `required`.
    within
        Domain of the placement group.
    leader_first
        The leader alone carries the required term.
    """

    feasible: bool
    domain: str = ""
    nodes: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    order: Order | None = None
    placement: str = "preferred"
    within: str = ""
    leader_first: bool = False


def group_entry(plan: GroupPlan) -> dict[str, Any]:
    """One entry of `groups` in `plan -o json`."""
    demand = plan.demand
    entry: dict[str, Any] = {
        "namespace": demand.namespace,
        "lws": demand.lws,
        "group": demand.group,
        "podGroup": demand.pod_group,
        "feasible": plan.feasible,
        "reason": plan.reason,
        "domain": _domain(plan),
        "pods": [_pod(plan, rank) for rank in range(len(plan.pods))],
        "quality": None if plan.quality is None else _quality(plan.quality),
        "alternatives": [{"domain": one.domain, "nodes": list(one.nodes)} for one in plan.alternatives],
    }
    return entry


def _domain(plan: GroupPlan) -> dict[str, Any] | None:
    if plan.domain is None:
        return None
    return {"name": plan.domain.name, "tier": plan.domain.tier, "tierName": plan.domain.tier_name}


def _pod(plan: GroupPlan, rank: int) -> dict[str, Any]:
    pod = plan.pods[rank]
    entry: dict[str, Any] = {
        "role": pod.role,
        "workerIndex": pod.rank,
        "node": pod.node,
        "path": list(pod.path),
    }
    return {**entry, "bound": True} if pod.bound else entry


def _quality(quality: Quality) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "highestTier": quality.highest_tier,
        "domains": dict(quality.domains),
        "ringCost": quality.ring_cost,
    }
    return entry if quality.exact else {**entry, "exact": False, "domainsAtLeast": dict(quality.at_least)}


def write_annotation(plan: GroupPlan, order: Order | None = None) -> str:
    """The plan of one group for the annotation `lws-volcano.io/plan`."""
    entry = group_entry(plan)
    listed = 1 + ALTERNATIVE_PODS // max(plan.demand.size, 1)
    entry["alternatives"] = entry["alternatives"][:listed]
    if plan.demand.size > _PATHS:
        entry["pods"] = [{key: value for key, value in pod.items() if key != "path"} for pod in entry["pods"]]
    entry["placement"] = plan.demand.rules.placement
    if order is not None:
        entry["order"] = order.to_json()
    if plan.within:
        entry["within"] = plan.within
    if plan.demand.rules.leader_first:
        entry["leaderFirst"] = True
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False)


def read_annotation(text: str) -> Note:
    """What the annotation of a leader pod or PodGroup says.

    Raises
    ------
    InputError
        It is not a plan: somebody else wrote it, or another version.
    """
    try:
        return _note(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"annotation {PLAN} is not a plan ({type(error).__name__})", mend="delete it, it is written again"
        ) from None


def _note(raw: Mapping[str, Any]) -> Note:
    order = raw.get("order")
    return Note(
        feasible=bool(raw["feasible"]),
        domain=str((raw["domain"] or {}).get("name", "")),
        nodes=tuple(str(pod["node"]) for pod in raw["pods"]),
        alternatives=tuple(
            Alternative(str(one["domain"]), tuple(map(str, one["nodes"]))) for one in raw.get("alternatives", [])
        ),
        order=None if order is None else Order.from_json(order),
        placement=str(raw.get("placement", "preferred")),
        within=str(raw.get("within", "")),
        leader_first=raw.get("leaderFirst") is True,
    )
