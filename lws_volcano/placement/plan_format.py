"""Plans as JSON: an entry of `plan -o json`, and the annotation that carries a plan on the leader pod and the PodGroup.

The annotation is the same entry without blanks, and with what every replica of the webhook needs to give each worker
the same hints:

`alternatives`
    The domains where the group may land, the planned one first; `nodes` is a host list that keeps order and repeats:
    the node of every rank, then spares to take when one of them is lost. Cut at `ALTERNATIVE_BYTES`.
`placement`, `within`, `leaderFirst`, `order`, `unseen`, `subGroups`
    As in `Note`, left out where they say nothing.

At most 4 KB for a group of 8; pods of groups larger than 64 are listed without their path, which follows from the
topology.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from lws_volcano.api.errors import InputError, TopologyError
from lws_volcano.api.names import PLAN
from lws_volcano.placement.demand import SubGroups
from lws_volcano.placement.node_lists import fold, unfold
from lws_volcano.placement.order import Order
from lws_volcano.placement.plan import GroupPlan
from lws_volcano.placement.quality import Quality
from lws_volcano.placement.window import Landing

__all__ = ["ALTERNATIVE_BYTES", "Note", "group_entry", "read_annotation", "write_annotation"]

ALTERNATIVE_BYTES: Final = 2800
"""Bytes of an annotation that alternatives may take; the planned one is always listed."""
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
    landings
        Where the group may land, the planned domain first.
    order
        What is ordered instead where nothing could be planned.
    placement
        `none`, `preferred` or `required`.
    within
        Domain of the placement group.
    leader_first
        The leader alone carries a required term.
    unseen
        The scheduler may not look at the planned nodes: no preferences.
    sub_groups
        The scheduler places them each by itself; None where it does not.
    """

    feasible: bool
    domain: str = ""
    nodes: tuple[str, ...] = ()
    landings: tuple[Landing, ...] = ()
    order: Order | None = None
    placement: str = "preferred"
    within: str = ""
    leader_first: bool = False
    unseen: bool = False
    sub_groups: SubGroups | None = None

    def fellows(self, rank: int) -> tuple[str, ...]:
        """Planned nodes of the pods that the scheduler places together with this one."""
        if self.sub_groups is None:
            return self.nodes
        own = self.sub_groups.index(rank)
        return tuple(node for other, node in enumerate(self.nodes) if self.sub_groups.index(other) == own)


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


def write_annotation(
    plan: GroupPlan,
    *,
    order: Order | None = None,
    landings: Sequence[Landing] = (),
    unseen: bool = False,
    sub_groups: SubGroups | None = None,
) -> tuple[str, Note]:
    """The annotation `lws-volcano.io/plan` of one group, and what `read_annotation` makes of it."""
    listed = _listed(landings)
    entry = group_entry(plan)
    entry["alternatives"] = listed
    if plan.demand.size > _PATHS:
        entry["pods"] = [{key: value for key, value in pod.items() if key != "path"} for pod in entry["pods"]]
    entry["placement"] = plan.demand.rules.placement
    if order is not None:
        entry["order"] = order.to_json()
    if plan.within:
        entry["within"] = plan.within
    if plan.demand.rules.leader_first:
        entry["leaderFirst"] = True
    if unseen:
        entry["unseen"] = True
    if sub_groups is not None:
        entry["subGroups"] = asdict(sub_groups)
    note = Note(
        feasible=plan.feasible,
        domain=plan.domain.name if plan.domain else "",
        nodes=tuple(pod.node for pod in plan.pods),
        landings=tuple(landings[: len(listed)]),
        order=order,
        placement=plan.demand.rules.placement,
        within=plan.within,
        leader_first=plan.demand.rules.leader_first,
        unseen=unseen,
        sub_groups=sub_groups,
    )
    return _compact(entry), note


def _compact(entry: Any) -> str:
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False)


def _listed(landings: Sequence[Landing]) -> list[dict[str, str]]:
    """As many as there are bytes for."""
    listed: list[dict[str, str]] = []
    left = ALTERNATIVE_BYTES
    for landing in landings:
        entry = {"domain": landing.domain, "nodes": fold((*landing.nodes, *landing.spares))}
        left -= len(_compact(entry)) + 1
        if listed and left < 0:
            break
        listed.append(entry)
    return listed


def read_annotation(text: str) -> Note:
    """What the annotation of a leader pod or PodGroup says.

    Raises
    ------
    InputError
        It is not a plan: somebody else wrote it, or another version.
    """
    try:
        return _note(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, TopologyError) as error:
        raise InputError(
            f"annotation {PLAN} is not a plan ({type(error).__name__})", mend="delete it, it is written again"
        ) from None


def _note(raw: Mapping[str, Any]) -> Note:
    order, sub_groups = raw.get("order"), raw.get("subGroups")
    return Note(
        feasible=bool(raw["feasible"]),
        domain=str((raw["domain"] or {}).get("name", "")),
        nodes=tuple(str(pod["node"]) for pod in raw["pods"]),
        landings=tuple(_landing(one, len(raw["pods"])) for one in raw.get("alternatives", [])),
        order=None if order is None else Order.from_json(order),
        placement=str(raw.get("placement", "preferred")),
        within=str(raw.get("within", "")),
        leader_first=raw.get("leaderFirst") is True,
        unseen=raw.get("unseen") is True,
        sub_groups=None if sub_groups is None else SubGroups(**sub_groups),
    )


def _landing(raw: Mapping[str, Any], size: int) -> Landing:
    nodes = unfold(raw["nodes"])
    return Landing(str(raw["domain"]), nodes[:size], nodes[size:])
