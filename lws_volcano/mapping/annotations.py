"""Annotations of a PodGroup.

Rule (CONTRACTS section 1): `volcano.sh/*` on the LWS is copied and kept in step, except the keys that become fields
(network topology). Which keys were copied stands in an annotation of ours, so that a key that leaves the LWS also
leaves the PodGroup while the keys that the scheduler writes there itself are left alone. The placement plan on the
leader pod is copied too.
"""

from collections.abc import Mapping
from typing import Final

from lws_volcano.api.names import (
    COPIED_KEYS,
    NETWORK_TOPOLOGY_HIGHEST_TIER,
    NETWORK_TOPOLOGY_MODE,
    PLACED,
    PLAN,
    RELEASED,
    REMADE,
    VOLCANO_PREFIX,
)
from lws_volcano.api.pods import Pod
from lws_volcano.api.workloads import LeaderWorkerSet

__all__ = ["copied_annotations", "our_annotations", "plan_annotation", "stale_keys"]

_FIELDS: Final = frozenset({NETWORK_TOPOLOGY_MODE, NETWORK_TOPOLOGY_HIGHEST_TIER})


def copied_annotations(lws: LeaderWorkerSet) -> dict[str, str]:
    """What comes from the LWS, with the list of its keys."""
    copied = {
        key: value
        for key, value in sorted(lws.metadata.annotations.items())
        if key.startswith(VOLCANO_PREFIX) and key not in _FIELDS
    }
    return {**copied, COPIED_KEYS: ",".join(copied)} if copied else {}


def plan_annotation(leader: Pod | None, observed: Mapping[str, str]) -> dict[str, str]:
    """The plan on the live leader; while there is no leader, the last one is kept."""
    plan = observed.get(PLAN) if leader is None else leader.metadata.annotations.get(PLAN)
    return {PLAN: plan} if plan else {}


def our_annotations(observed: Mapping[str, str]) -> dict[str, str]:
    """Those on a PodGroup that we wrote."""
    return {key: observed[key] for key in sorted(_written(observed)) if key in observed}


def stale_keys(observed: Mapping[str, str], desired: Mapping[str, str]) -> tuple[str, ...]:
    """Keys that we wrote once and that must go."""
    return tuple(sorted(key for key in _written(observed) if key in observed and key not in desired))


def _written(observed: Mapping[str, str]) -> set[str]:
    copied = (key for key in observed.get(COPIED_KEYS, "").split(",") if key.startswith(VOLCANO_PREFIX))
    return {*copied, COPIED_KEYS, PLACED, PLAN, RELEASED, REMADE}
