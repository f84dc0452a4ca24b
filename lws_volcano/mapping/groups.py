"""The groups that exist.

Rule (DESIGN section 3): a group is there by its pods, keyed by group index and revision, never by counting to
`spec.replicas`: surge groups at and above `replicas` have pods too, and a group that is being replaced exists twice,
once a revision. A PodGroup comes with the first pod that lives (the leader; LWS makes it first), and not before: an
empty one holds queue room (FACTS section 2).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lws_volcano.api.names import GROUP_NAME
from lws_volcano.api.pods import Pod
from lws_volcano.mapping.identity import identify
from lws_volcano.mapping.members import Ranked, present
from lws_volcano.mapping.naming import pod_group_name

__all__ = ["Group", "group_pods", "order_of"]


@dataclass(frozen=True)
class Group:
    """One group of one revision and all its pods with their worker index, terminating ones too."""

    lws: str
    index: str
    revision: str
    ranked: tuple[Ranked, ...]

    @property
    def pods(self) -> tuple[Pod, ...]:
        """All its pods."""
        return tuple(pod for _, pod in self.ranked)

    @cached_property
    def pod_group(self) -> str:
        """Name of its PodGroup."""
        return pod_group_name(self.lws, self.index, self.revision)

    @cached_property
    def members(self) -> dict[int, Pod]:
        """Worker index -> pod, those that count."""
        return present(self.ranked)

    @property
    def leader(self) -> Pod | None:
        """The leader that counts."""
        return self.members.get(0)

    @cached_property
    def workers(self) -> tuple[Pod, ...]:
        """The workers that count, by worker index."""
        return tuple(pod for rank, pod in self.members.items() if rank)

    @cached_property
    def outside(self) -> tuple[Pod, ...]:
        """Members that have a node and belong to another PodGroup, or to none: they cannot join any more."""
        return tuple(
            pod
            for pod in self.members.values()
            if pod.bound and pod.metadata.annotations.get(GROUP_NAME) != self.pod_group
        )


def group_pods(pods: Iterable[Pod]) -> tuple[Group, ...]:
    """Groups of the pods of one LWS, in order of group index, then revision. Pods that tell too little are left out."""
    sorted_in: dict[tuple[str, str, str], list[Ranked]] = {}
    for pod in pods:
        identity = identify(pod.metadata)
        if identity is not None:
            key = identity.lws, identity.group, identity.revision
            sorted_in.setdefault(key, []).append((identity.worker_index, pod))
    groups = (
        Group(lws, index, revision, tuple(sorted(members, key=_place)))
        for (lws, index, revision), members in sorted_in.items()
    )
    return tuple(sorted(groups, key=lambda group: (order_of(group.index), group.revision)))


def order_of(index: str) -> tuple[int, str]:
    """Sort key of a group index: whole numbers in their order without reading the index as a number."""
    return len(index), index


def _place(one: Ranked) -> tuple[int, str]:
    return one[0], one[1].uid
