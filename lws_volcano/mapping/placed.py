"""What really happened to a planned group, on its PodGroup, where that is not what the plan there says.

Rule (issue "Where each pod goes", part 5): the PodGroup tells people how wide the group is, how dear its ring, and
whether the hints were followed. A group that sits as well as planned needs no second word, so the normal case costs no
write (CONTRACTS section 5). The word stays while the same plan does, also while a lost member is missing.
"""

import json
from collections.abc import Mapping

from lws_volcano.api.names import PLACED
from lws_volcano.mapping.changes import Whereabouts

__all__ = ["placed_annotation"]

_DIGITS = 6
"""Of a ring cost in s/GB: what is summed in another order is the same."""


def placed_annotation(observed: Mapping[str, str], where: Whereabouts | None, *, same_plan: bool) -> dict[str, str]:
    """The annotation that the PodGroup must carry.

    Parameters
    ----------
    observed
        Annotations of the PodGroup.
    where
        Where the group sits; None while a member has no node.
    same_plan
        The plan on the PodGroup is that of the group's leader.
    """
    if where is None:
        return {PLACED: observed[PLACED]} if PLACED in observed and same_plan else {}
    if where.followed is None or where.planned_cost is None:
        return {}
    cost, planned = round(where.ring_cost, _DIGITS), round(where.planned_cost, _DIGITS)
    if where.followed and cost == planned:
        return {}
    entry = {
        "domain": where.domain,
        "tier": where.tier,
        "ringCost": cost,
        "plannedRingCost": planned,
        "followed": where.followed,
    }
    return {PLACED: json.dumps(entry, separators=(",", ":"), ensure_ascii=False)}
