"""spec.networkTopology from Volcano's own annotations on the LWS.

Rule (CONTRACTS section 1, issue "The network as a model", part 5)
- `volcano.sh/network-topology-mode` is hard or soft; a tier without a mode is hard, as it is for Volcano.
- `volcano.sh/network-topology-highest-tier` is a number, or a tier name of the configured topology; always the number
  is written, because Volcano drops an unknown name, and with it the constraint, without a word.
- Hard without a tier is no constraint for Volcano: it means one tree, and the top tier is written out, with a note.
- A hard constraint that cannot be written as asked is a promise broken, so nothing is written for the group; a soft one
  is left out.
- Kueue's topology annotations on the pod templates mean that another planner chooses the rack: no second choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.api.names import (
    NETWORK_TOPOLOGY_HIGHEST_TIER,
    NETWORK_TOPOLOGY_MODE,
    PLACEMENT_GROUP_TIER,
    TOPOLOGY_SCOPE,
    Reason,
)
from lws_volcano.api.volcano import NetworkTopology
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.problems import Cost, Problem
from lws_volcano.mapping.snapshot import Capabilities
from lws_volcano.topology.model import Topology

__all__ = ["Constraint", "asks_for_tiers", "network_topology", "other_planner"]

_MODES: Final = ("hard", "soft")
_SCOPES: Final = ("group", "workers")
_KUEUE: Final = "kueue.x-k8s.io/podset-"
_KUEUE_TOPOLOGY: Final = (
    "required-topology",
    "preferred-topology",
    "unconstrained-topology",
    "slice-required-topology",
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the PodGroup says about distance; `workers_only` leaves the leader out of it."""

    topology: NetworkTopology | None = None
    workers_only: bool = False
    problems: tuple[Problem, ...] = ()


def network_topology(
    lws: LeaderWorkerSet,
    template: LeaderWorkerTemplate,
    topology: Topology | None,
    capabilities: Capabilities,
) -> Constraint:
    """Resolve the annotations of an LWS against the configured topology."""
    annotations = lws.metadata.annotations
    workers_only, scope_problem = _scope(annotations)
    problems = [scope_problem] if scope_problem else []
    planner = other_planner(template)
    if not _asked(annotations):
        if planner:
            problems.append(_two_planners(planner, "no networkTopology is written", Cost.PART))
        return Constraint(None, workers_only, tuple(problems))
    mode, mode_problem = _mode(annotations)
    if mode_problem:
        return Constraint(None, workers_only, (*problems, mode_problem))
    cost = Cost.EVERYTHING if mode == "hard" else Cost.PART
    obstacle = _obstacle(planner, capabilities, cost)
    if obstacle:
        return Constraint(None, workers_only, (*problems, obstacle))
    tier, tier_problem = _tier(annotations.get(NETWORK_TOPOLOGY_HIGHEST_TIER), mode, topology)
    if tier_problem:
        problems.append(tier_problem)
    if capabilities.topology_ignored:
        problems.append(Problem(Reason.TOPOLOGY_IGNORED, capabilities.topology_ignored))
    if tier is None and (mode == "hard" or tier_problem):
        return Constraint(None, workers_only, tuple(problems))
    fields = {} if tier is None else {"highest_tier_allowed": tier}
    return Constraint(NetworkTopology(mode=mode, **fields), workers_only, tuple(problems))


def asks_for_tiers(lws: LeaderWorkerSet) -> bool:
    """What is written for it, or said of it, depends on the tiers of the configured topology."""
    return _asked(lws.metadata.annotations) or PLACEMENT_GROUP_TIER in lws.metadata.annotations


def other_planner(template: LeaderWorkerTemplate) -> str:
    """The annotation by which another planner chooses the domain, empty without one."""
    keys = {*template.leader.metadata.annotations, *template.worker_template.metadata.annotations}
    return next((f"{_KUEUE}{kind}" for kind in _KUEUE_TOPOLOGY if f"{_KUEUE}{kind}" in keys), "")


def _asked(annotations: Mapping[str, str]) -> bool:
    return NETWORK_TOPOLOGY_MODE in annotations or NETWORK_TOPOLOGY_HIGHEST_TIER in annotations


def _mode(annotations: Mapping[str, str]) -> tuple[str, Problem | None]:
    mode = annotations.get(NETWORK_TOPOLOGY_MODE, "hard")
    if mode in _MODES:
        return mode, None
    return "", Problem(
        Reason.INVALID_ANNOTATION,
        f"{NETWORK_TOPOLOGY_MODE} is {mode!r} on the LeaderWorkerSet; allowed are hard and soft. "
        "Nothing is written, because it may have been meant as hard",
        Cost.EVERYTHING,
    )


def _scope(annotations: Mapping[str, str]) -> tuple[bool, Problem | None]:
    scope = annotations.get(TOPOLOGY_SCOPE, "group")
    if scope in _SCOPES:
        return scope == "workers", None
    return False, Problem(
        Reason.INVALID_ANNOTATION,
        f"{TOPOLOGY_SCOPE} is {scope!r} on the LeaderWorkerSet; allowed are group and workers, group is used",
    )


def _obstacle(planner: str, capabilities: Capabilities, cost: Cost) -> Problem | None:
    if planner:
        return _two_planners(planner, f"{NETWORK_TOPOLOGY_MODE} cannot be kept beside it", cost)
    if not capabilities.network_topology:
        return Problem(
            Reason.UNSUPPORTED_BY_VOLCANO,
            "the installed PodGroup CRD has no spec.networkTopology; upgrade Volcano or remove "
            f"{NETWORK_TOPOLOGY_MODE} from the LeaderWorkerSet",
            cost,
        )
    return None


def _two_planners(key: str, consequence: str, cost: Cost) -> Problem:
    return Problem(
        Reason.TWO_TOPOLOGY_PLANNERS,
        f"the pod templates carry {key}, so Kueue chooses the topology domain; {consequence}: keep one of the two",
        cost,
    )


def _tier(text: str | None, mode: str, topology: Topology | None) -> tuple[int | None, Problem | None]:
    cost = Cost.EVERYTHING if mode == "hard" else Cost.PART
    if text is None:
        return _tier_left_out(mode, topology)
    if text.isascii() and text.isdigit():
        return _number(int(text), cost, topology)
    if topology is None:
        return None, Problem(
            Reason.TIER_NOT_FOUND,
            f"{NETWORK_TOPOLOGY_HIGHEST_TIER} is {text!r}, but no topology is configured that names tiers; "
            "write a tier number of at least 1 or configure a ClusterTopology",
            cost,
        )
    try:
        return topology.resolve_tier(text), None
    except TopologyError as error:
        return None, Problem(Reason.TIER_NOT_FOUND, f"{NETWORK_TOPOLOGY_HIGHEST_TIER}: {error}", cost)


def _number(number: int, cost: Cost, topology: Topology | None) -> tuple[int | None, Problem | None]:
    if number < 1:
        return None, Problem(
            Reason.INVALID_ANNOTATION,
            f"{NETWORK_TOPOLOGY_HIGHEST_TIER} is {number}; allowed are tier numbers of at least 1 and tier names",
            cost,
        )
    if topology is not None and number > topology.top_tier:
        return number, Problem(
            Reason.TIER_NOT_FOUND,
            f"{NETWORK_TOPOLOGY_HIGHEST_TIER} is {number}, above the top tier {topology.top_tier} of topology "
            f"{topology.name!r}: the group may spread over a whole tree; write a lower number to keep it closer",
        )
    return number, None


def _tier_left_out(mode: str, topology: Topology | None) -> tuple[int | None, Problem | None]:
    if mode == "soft":
        return None, None
    if topology is None or not topology.top_tier:
        return None, Problem(
            Reason.INVALID_ANNOTATION,
            f"{NETWORK_TOPOLOGY_MODE} is hard without {NETWORK_TOPOLOGY_HIGHEST_TIER}, and no topology is configured "
            "that says which tier is the top; write a tier number",
            Cost.EVERYTHING,
        )
    return topology.top_tier, Problem(
        Reason.INVALID_ANNOTATION,
        f"{NETWORK_TOPOLOGY_MODE} is hard without {NETWORK_TOPOLOGY_HIGHEST_TIER}: taken as the top tier "
        f"{topology.top_tier} (one tree); write the tier to keep the group closer",
    )
