"""What one group asks for: its pods' shapes and the rules that bind where they may go.

`mapping` reads annotations and resolves tiers; here only the outcome is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lws_volcano.api.workloads import LEADER_EXCLUDED, LeaderWorkerTemplate
from lws_volcano.placement.shape import Shape, template_shape

__all__ = ["Demand", "Rules", "SubGroups", "group_shapes"]

Mode = Literal["hard", "soft", "none"]
Scope = Literal["group", "workers"]


@dataclass(frozen=True, slots=True)
class SubGroups:
    """LWS sub-groups of one group.

    Attributes
    ----------
    size
        Workers in every sub-group but the first.
    count
        Sub-groups.
    first
        Workers in sub-group 0: `size` when the leader comes on top or stays out, `size - 1` when it is one of them.
    leader_inside
        The leader belongs to sub-group 0 (type LeaderWorker).
    """

    size: int
    count: int
    first: int
    leader_inside: bool

    @classmethod
    def of(cls, template: LeaderWorkerTemplate) -> "SubGroups | None":
        """Sub-groups of a template, None without any, or with a size that LWS would refuse."""
        policy = template.sub_group_policy
        if policy is None or not policy.sub_group_size or policy.sub_group_size < 1:
            return None
        size, workers = policy.sub_group_size, template.workers
        if policy.sub_group_policy_type == LEADER_EXCLUDED:
            return cls(size, workers // size, size, leader_inside=False) if workers and workers % size == 0 else None
        if workers and workers % size == 0:
            return cls(size, workers // size, size, leader_inside=True)
        if template.size % size == 0:
            return cls(size, template.size // size, size - 1, leader_inside=True)
        return None

    def index(self, rank: int) -> int | None:
        """Sub-group of a rank; None for a leader that stays out."""
        if rank == 0:
            return 0 if self.leader_inside else None
        return 0 if rank <= self.first else 1 + (rank - 1 - self.first) // self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Where the pods may go.

    Attributes
    ----------
    mode
        `hard`: never above `highest_tier`; `soft`, `none`: as close as there is room.
    highest_tier
        Tier number for `hard`; None is one whole tree.
    scope
        Whether the leader is inside the constraint.
    sub_groups, sub_group_tier
        Sub-groups sit each in one domain; of at most this tier when it is given.
    exclusive_key, sub_group_exclusive_key
        Node label whose value the group (each sub-group) must have for itself (LWS exclusive-topology).
    leader_first
        Workers are made after the leader has a node.
    placement
        Which hints the pods get.
    placement_group, placement_group_tier
        Groups of this name in the namespace go near each other, softly: within one domain of that tier.
    """

    mode: Mode = "none"
    highest_tier: int | None = None
    scope: Scope = "group"
    sub_groups: SubGroups | None = None
    sub_group_tier: int | None = None
    exclusive_key: str = ""
    sub_group_exclusive_key: str = ""
    leader_first: bool = False
    placement: Literal["none", "preferred", "required"] = "preferred"
    placement_group: str = ""
    placement_group_tier: int | None = None

    @property
    def limited(self) -> bool:
        """There is a tier that must not be exceeded."""
        return self.mode == "hard"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demand:
    """One group to be placed.

    Attributes
    ----------
    key
        Identity of the group: `namespace/name of its PodGroup`. Reservations and bound pods are told apart by it.
    group
        Group index, a string (it need not be a number).
    size
        Pods, the leader included.
    leader, worker
        Shapes.
    group_key
        Value of the pods' `group-key` label, if known: exclusive topology is about pods with another one.
    bound
        Rank -> node of the members that have one already; capacity counts them as pods.
    near
        Nodes of other groups of the same placement group.
    """

    key: str
    size: int
    leader: Shape
    worker: Shape
    rules: Rules = field(default_factory=Rules)
    namespace: str = ""
    lws: str = ""
    group: str = "0"
    pod_group: str = ""
    group_key: str = ""
    priority: int = 0
    bound: Mapping[int, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.size == 1:
            object.__setattr__(self, "worker", self.leader)

    @property
    def workers(self) -> int:
        """Pods without the leader."""
        return self.size - 1

    @property
    def identity(self) -> str:
        """What tells the group's pods from other groups' on a node: `namespace/group-key`, or the key while unknown."""
        return f"{self.namespace}/{self.group_key}" if self.group_key else self.key

    @property
    def alike(self) -> bool:
        """Leader and workers look the same to a scheduler."""
        return self.leader == self.worker

    @property
    def split(self) -> "SubGroups | None":
        """Sub-groups, when there is more than one."""
        sub = self.rules.sub_groups
        return sub if sub is not None and (sub.count > 1 or not sub.leader_inside) else None

    def shape(self, rank: int) -> Shape:
        """Shape of the pod of this rank."""
        return self.leader if rank == 0 else self.worker

    def missing(self) -> tuple[int, ...]:
        """Ranks without a node."""
        return tuple(rank for rank in range(self.size) if rank not in self.bound)


def group_shapes(
    template: LeaderWorkerTemplate,
    leader_overhead: Mapping[str, str | int | float] | None = None,
    worker_overhead: Mapping[str, str | int | float] | None = None,
) -> tuple[Shape, Shape]:
    """Shapes of leader and worker of a group template.

    Raises
    ------
    QuantityError
        A request that Kubernetes would refuse.
    """
    return template_shape(template.leader, leader_overhead), template_shape(template.worker_template, worker_overhead)
