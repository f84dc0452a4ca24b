"""What a model owner wants of placement: hints, and groups of several LWS near each other.

Rule (CONTRACTS section 1): `lws-volcano.io/placement` is none, preferred or required; without it the configuration
decides, and without that a configured topology means preferred. `lws-volcano.io/placement-group` names a set of groups,
of all LWS in the namespace, that are planned near each other, softly, within `lws-volcano.io/placement-group-tier`.
A value that is not allowed is reported and the default is used: a hint is never worth a waiting group.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from lws_volcano.api.errors import TopologyError
from lws_volcano.api.names import PLACEMENT, PLACEMENT_GROUP, PLACEMENT_GROUP_TIER, Reason
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.mapping.problems import Problem
from lws_volcano.topology.model import Topology

__all__ = ["Placement", "PlacementWish", "placement_wish"]

Placement = Literal["none", "preferred", "required"]

_ALLOWED: Final[tuple[Placement, ...]] = get_args(Placement)


@dataclass(frozen=True, slots=True)
class PlacementWish:
    """How strongly the planner's choice is put on the pods, and whom the group wants to be near."""

    placement: Placement
    group: str = ""
    group_tier: int | None = None
    problems: tuple[Problem, ...] = ()


def placement_wish(lws: LeaderWorkerSet, settings: Settings, topology: Topology | None) -> PlacementWish:
    """Read the annotations of an LWS."""
    annotations = lws.metadata.annotations
    placement, placement_problem = _placement(annotations, settings, topology)
    tier, tier_problem = _tier(annotations, topology)
    problems = tuple(problem for problem in (placement_problem, tier_problem) if problem)
    return PlacementWish(placement, annotations.get(PLACEMENT_GROUP, ""), tier, problems)


def _placement(
    annotations: Mapping[str, str], settings: Settings, topology: Topology | None
) -> tuple[Placement, Problem | None]:
    default: Placement = settings.placement or ("preferred" if topology is not None else "none")
    asked = annotations.get(PLACEMENT, default)
    for allowed in _ALLOWED:
        if asked == allowed:
            return allowed, None
    return default, Problem(
        Reason.INVALID_ANNOTATION,
        f"{PLACEMENT} is {asked!r} on the LeaderWorkerSet; allowed are {', '.join(_ALLOWED)}; {default} is used",
    )


def _tier(annotations: Mapping[str, str], topology: Topology | None) -> tuple[int | None, Problem | None]:
    text = annotations.get(PLACEMENT_GROUP_TIER)
    if text is None:
        return None, None
    if topology is None:
        return None, Problem(
            Reason.TIER_NOT_FOUND,
            f"{PLACEMENT_GROUP_TIER} is {text!r}, but no topology is configured; it is left out",
        )
    try:
        return topology.resolve_tier(text), None
    except TopologyError as error:
        return None, Problem(Reason.TIER_NOT_FOUND, f"{PLACEMENT_GROUP_TIER}: {error}; it is left out")
