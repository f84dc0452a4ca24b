"""The outcome of planning one group."""

from collections.abc import Mapping
from dataclasses import dataclass

from lws_volcano.placement.demand import Demand
from lws_volcano.placement.quality import Quality

__all__ = ["Alternative", "DomainRef", "GroupPlan", "PlannedPod"]


@dataclass(frozen=True, slots=True)
class DomainRef:
    """A domain by name."""

    name: str
    tier: int
    tier_name: str


@dataclass(frozen=True, slots=True)
class PlannedPod:
    """One rank's node; `path` lists the domains above it, outermost first."""

    role: str
    rank: int
    node: str
    path: tuple[str, ...] = ()
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another domain of the same tier that holds the group, and the node of every rank in it."""

    domain: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """Where a group goes, or why nowhere.

    Attributes
    ----------
    domain
        Lowest domain with every pod (for a group on one node: the lowest above it); None across trees, without a
        topology, and when infeasible.
    pods
        By rank; empty when infeasible: never half a group.
    alternatives
        Best first, the chosen one included; a group with bound members has none but its own.
    within
        Domain in which the placement group is kept together, empty without one.
    """

    demand: Demand
    feasible: bool
    reason: str = ""
    domain: DomainRef | None = None
    pods: tuple[PlannedPod, ...] = ()
    quality: Quality | None = None
    alternatives: tuple[Alternative, ...] = ()
    within: str = ""

    @property
    def nodes(self) -> Mapping[int, str]:
        """Rank -> node."""
        return {pod.rank: pod.node for pod in self.pods}
