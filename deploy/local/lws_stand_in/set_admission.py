"""Defaulting and validation of LeaderWorkerSets."""

import re
from copy import deepcopy
from typing import Final

from deploy.local.admission import Denied
from deploy.local.lws_stand_in.names import LEADER_EXCLUDED, SUBGROUP_EXCLUSIVE, Json, annotations, group_size
from deploy.local.lws_stand_in.rollout import Budget

__all__ = ["default_set", "validate_set"]

_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_PERCENT: Final = re.compile(r"\d+%")
MOST: Final = 2**31 - 1
WHOLE: Final = 100


def default_set(request: Json) -> Json:
    """The set with the defaults that its schema does not give."""
    lws: Json = deepcopy(request["object"])
    spec = lws["spec"]
    template = spec["leaderWorkerTemplate"]
    if template.get("restartPolicy", "") in {"", "Default"}:
        template["restartPolicy"] = "None" if template.get("restartPolicy") else "RecreateGroupOnPodRestart"
    strategy = spec.setdefault("rolloutStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    strategy.setdefault("rollingUpdateConfiguration", {"maxUnavailable": 1, "maxSurge": 0, "partition": 0})
    spec.setdefault("networkConfig", {}).setdefault("subdomainPolicy", "Shared")
    return lws


def validate_set(request: Json) -> None:
    """Refuse what LeaderWorkerSet refuses.

    Raises
    ------
    Denied
        With every reason.
    """
    lws = request["object"]
    reasons = [*_shape(lws), *_rollout(lws), *_sub_groups(lws, request.get("oldObject"))]
    if reasons:
        raise Denied("; ".join(reasons))


def _shape(lws: Json) -> list[str]:
    reasons = []
    if not _LABEL.fullmatch(lws["metadata"]["name"]):
        reasons.append(f"metadata.name: {lws['metadata']['name']!r} must be a DNS label that starts with a letter")
    if group_size(lws) < 1:
        reasons.append("spec.leaderWorkerTemplate.size: size must be equal or greater than 1")
    if lws["spec"]["replicas"] * group_size(lws) > MOST:
        reasons.append(f"spec.replicas: replicas times size must not exceed {MOST}")
    return reasons


def _rollout(lws: Json) -> list[str]:
    rolling = lws["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    reasons = [
        f"spec.rolloutStrategy.rollingUpdateConfiguration.{name}: {rolling[name]!r} must be a number or a percentage"
        for name in ("maxUnavailable", "maxSurge")
        if not _is_share(rolling.get(name, 0))
    ]
    if (rolling.get("partition") or 0) < 0:
        reasons.append("spec.rolloutStrategy.rollingUpdateConfiguration.partition: must not be negative")
    if not reasons:
        budget = Budget.of(lws)
        if budget.replicas and not budget.unavailable and not budget.surge:
            reasons.append("spec.rolloutStrategy: maxUnavailable must not be 0 when maxSurge is 0")
    return reasons


def _is_share(value: int | str) -> bool:
    if isinstance(value, int):
        return value >= 0
    return bool(_PERCENT.fullmatch(value)) and int(value[:-1]) <= WHOLE


def _sub_groups(lws: Json, old: Json | None) -> list[str]:
    policy, before = _policy(lws), _policy(old) if old else None
    if old is not None and (policy is None) != (before is None):
        return ["spec.leaderWorkerTemplate.subGroupPolicy: cannot be added or removed afterwards"]
    if policy is None:
        if SUBGROUP_EXCLUSIVE in annotations(lws):
            return ["cannot have subgroup-exclusive-topology without subGroupSize set"]
        return []
    size, width = group_size(lws), policy.get("subGroupSize") or 0
    if before is not None and width != before.get("subGroupSize"):
        return ["spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: field is immutable"]
    if width < 1 or size < width:
        return ["spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: must be between 1 and size"]
    if size % width and (size - 1) % width:
        return ["spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: size or size - 1 must be divisible by it"]
    if policy.get("subGroupPolicyType") == LEADER_EXCLUDED and (size - 1) % width:
        return [
            "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: size - 1 must be divisible by it, LeaderExcluded"
        ]
    return []


def _policy(lws: Json) -> Json | None:
    policy: Json | None = lws["spec"]["leaderWorkerTemplate"].get("subGroupPolicy")
    return policy
