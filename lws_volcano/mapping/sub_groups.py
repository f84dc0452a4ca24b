"""spec.subGroupPolicy: LWS sub-groups, and the topology scope `workers`.

Rule (DESIGN section 3): an LWS `subGroupPolicy` becomes one policy with matchLabelKeys
`leaderworkerset.sigs.k8s.io/subgroup-index`. Where size - 1 divides by the sub-group size, a LeaderWorker leader is an
extra member of sub-group 0 and a LeaderExcluded leader has no sub-group (seen); otherwise size must divide. Anything
else is refused, as LWS itself refuses it.

Scope `workers` moves networkTopology from the PodGroup into a policy that selects the workers. It is given a
matchLabelKey as well, because a policy without one never starts (seen); the group key is the same on all workers. A
pod may be in one policy only, so the LWS's sub-groups are left out beside it: the distance was asked for in words.

While a leader-first group counts its leader alone there are no sub-groups to wait for, so the policy comes with the
final minimum.
"""

from typing import Final

from lws_volcano.api.names import GROUP_KEY, SUBGROUP_INDEX, TOPOLOGY_SCOPE, WORKER_INDEX, Reason
from lws_volcano.api.volcano import LabelSelector, NetworkTopology, SubGroupPolicySpec
from lws_volcano.api.workloads import LEADER_EXCLUDED, LeaderWorkerTemplate
from lws_volcano.mapping.network_topology import Constraint
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["count_sub_groups", "sub_groups"]

_NAME: Final = "subgroup"
_WORKERS: Final = "workers"
_WORKERS_ONLY: Final = LabelSelector(match_expressions=({"key": WORKER_INDEX, "operator": "NotIn", "values": ["0"]},))
_SUB_GROUPS_DROPPED: Final = Problem(
    Reason.INVALID_SUBGROUP,
    f"{TOPOLOGY_SCOPE} workers and subGroupPolicy cannot be had together: the PodGroup comes without sub-groups",
)


def sub_groups(
    template: LeaderWorkerTemplate, constraint: Constraint, *, supported: bool
) -> tuple[tuple[SubGroupPolicySpec, ...], tuple[Problem, ...]]:
    """Policies of a PodGroup whose minimum is final, and what is wrong.

    Parameters
    ----------
    template
        Template of the group's revision.
    constraint
        The distance asked for; with `workers_only` it goes into a policy instead of the PodGroup.
    supported
        The installed PodGroup CRD has the field.
    """
    policy = template.sub_group_policy
    size = policy.sub_group_size if policy else None
    count = count_sub_groups(template)
    if size is not None and not count:
        return (), (_invalid(template, size),)
    if constraint.workers_only and constraint.topology and template.workers:
        chosen, problems = _workers(template.workers, constraint.topology, supported)
        return chosen, (*problems, _SUB_GROUPS_DROPPED) if chosen and size is not None else problems
    if size is None:
        return (), ()
    if not supported:
        return (), (_unsupported("the PodGroup comes without sub-groups", Cost.PART),)
    parts = SubGroupPolicySpec(
        name=_NAME, match_label_keys=(SUBGROUP_INDEX,), sub_group_size=size, min_sub_groups=count
    )
    return (parts,), ()


def count_sub_groups(template: LeaderWorkerTemplate) -> int:
    """Sub-groups in a group; 0 when the sizes do not divide, or there are none."""
    policy = template.sub_group_policy
    size = policy.sub_group_size if policy else None
    if policy is None or size is None or not 1 <= size <= template.size:
        return 0
    if template.workers and template.workers % size == 0:
        return template.workers // size
    if policy.sub_group_policy_type == LEADER_EXCLUDED or template.size % size:
        return 0
    return template.size // size


def _invalid(template: LeaderWorkerTemplate, size: int) -> Problem:
    excluded = template.sub_group_policy is not None and (
        template.sub_group_policy.sub_group_policy_type == LEADER_EXCLUDED
    )
    rule = "size - 1" if excluded else "size or size - 1"
    return Problem(
        Reason.INVALID_SUBGROUP,
        f"{rule} must be divisible by subGroupSize, but size is {template.size} and subGroupSize {size}; change one",
        Cost.EVERYTHING,
    )


def _workers(
    count: int, topology: NetworkTopology, supported: bool
) -> tuple[tuple[SubGroupPolicySpec, ...], tuple[Problem, ...]]:
    if not supported:
        cost = Cost.EVERYTHING if topology.mode == "hard" else Cost.PART
        return (), (_unsupported(f"{TOPOLOGY_SCOPE} workers cannot be kept", cost),)
    policy = SubGroupPolicySpec(
        name=_WORKERS,
        label_selector=_WORKERS_ONLY,
        match_label_keys=(GROUP_KEY,),
        sub_group_size=count,
        min_sub_groups=1,
        network_topology=topology,
    )
    return (policy,), ()


def _unsupported(consequence: str, cost: Cost) -> Problem:
    return Problem(
        Reason.UNSUPPORTED_BY_VOLCANO,
        "the installed PodGroup CRD has no spec.subGroupPolicy with matchLabelKeys, so "
        f"{consequence}; upgrade Volcano to have them",
        cost,
    )
