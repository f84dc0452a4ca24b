"""The status of a ClusterTopology: how much of it is in use, and whether it is at all."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lws_volcano.api.names import Reason
from lws_volcano.topology.findings import Finding, Severity
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import StatusCondition, TopologyStatus
from lws_volcano.topology.strangers import TWO_PARENTS

__all__ = ["READY", "topology_status"]

READY: Final = "Ready"
"""Type of the condition."""

_SHOWN: Final = 10
_MOST_TEXT: Final = 1024


def topology_status(
    topology: Topology | None,
    findings: Sequence[Finding],
    *,
    generation: int,
    now: str,
    before: Mapping[str, Any] | None = None,
    refused: bool = False,
) -> dict[str, Any]:
    """Status to apply; equal to `before` when nothing changed, so that an unchanged pass writes nothing.

    Parameters
    ----------
    topology
        What was built from this ClusterTopology alone; None when it was refused.
    findings
        Everything found, whether it was refused or not.
    now
        Time in RFC 3339, used where the condition's status changes.
    before
        The status as it stands.
    refused
        What is given now is not good, and `topology` is the last good one.
    """
    status, reason, message = _verdict(topology, findings) if not refused else _stale(topology, findings)
    condition = StatusCondition(
        type=READY,
        status=status,
        reason=reason,
        message=message[:_MOST_TEXT],
        last_transition_time=_since(before or {}, status) or now,
        observed_generation=generation,
    )
    used = [domain for domain in topology.domains if len(domain)] if topology is not None else []
    found = TopologyStatus(
        nodes=len(topology.nodes) if topology is not None else 0,
        unplaced=len(topology.unplaced) if topology is not None else 0,
        domains=len(used),
        tiers=len({domain.tier for domain in used}),
        warnings=tuple(str(finding)[:_MOST_TEXT] for finding in findings[:_SHOWN]),
        observed_generation=generation,
        conditions=(condition,),
    )
    return found.model_dump(mode="json", by_alias=True)


def _verdict(topology: Topology | None, findings: Sequence[Finding]) -> tuple[Any, Reason, str]:
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if topology is None:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return "False", Reason.TOPOLOGY_INVALID, f"{errors[0]}{more}" if errors else "refused"
    if not topology.nodes:
        return "False", Reason.TOPOLOGY_EMPTY, "no node of the cluster is in a domain; placement goes on without it"
    words = f"{len(topology.nodes)} nodes in {sum(1 for domain in topology.domains if len(domain))} domains"
    torn = [finding for finding in findings if finding.about == TWO_PARENTS]
    if torn:
        return "False", Reason.HYPERNODE_TWO_PARENTS, f"{words}; {torn[0]}"
    return "True", Reason.TOPOLOGY_READY, f"{words}; {len(errors)} parts left out" if errors else words


def _stale(topology: Topology | None, findings: Sequence[Finding]) -> tuple[Any, Reason, str]:
    """Refused, or empty; what was good before stays in use."""
    if any(finding.severity is Severity.ERROR for finding in findings):
        status, reason, message = _verdict(None, findings)
    else:
        status, reason, message = "False", Reason.TOPOLOGY_EMPTY, "no node of the cluster is in a domain"
    return status, reason, f"{message}; the last good topology stays in use" if topology is not None else message


def _since(before: Mapping[str, Any], status: str) -> str:
    """When the condition took this status, empty when it has not had it."""
    for condition in before.get("conditions") or ():
        if condition.get("type") == READY and condition.get("status") == status:
            return str(condition.get("lastTransitionTime") or "")
    return ""
