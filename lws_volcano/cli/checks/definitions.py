"""CustomResourceDefinitions that are missing, or too old for what is asked of them."""

from collections.abc import Iterator
from typing import Final

from lws_volcano.cli.checks.patient import Finding, Level, Patient
from lws_volcano.kube.discovery import fields_of
from lws_volcano.kube.resources import CLUSTER_TOPOLOGIES, HYPER_NODES, LEADER_WORKER_SETS, POD_GROUPS, QUEUES, Resource

__all__ = ["KINDS", "check"]

KINDS: Final[dict[Resource, tuple[Level, str]]] = {
    LEADER_WORKER_SETS: (Level.ERROR, "install LeaderWorkerSet"),
    POD_GROUPS: (Level.ERROR, "install Volcano"),
    QUEUES: (Level.ERROR, "install Volcano"),
    HYPER_NODES: (Level.WARNING, "upgrade Volcano to 1.12 or later: there is no topology without"),
    CLUSTER_TOPOLOGIES: (Level.WARNING, "apply the files in crds/: topologies can only be mounted as files without"),
}
"""What each is worth, and where it comes from."""

_FIELDS: Final = {
    "minTaskMember": "a gang is then counted as a whole only, and may start without its leader",
    "networkTopology": "topology annotations are refused then",
    "subGroupPolicy": "sub-groups and the scope `workers` are not written then",
}


def check(patient: Patient) -> Iterator[Finding]:
    """Definitions, and the fields of PodGroup."""
    if patient.definitions is None:
        return
    for resource, (level, mend) in KINDS.items():
        if patient.definitions.get(resource.rbac_name) is None:
            yield Finding(level=level, what="does not exist", where=f"CRD {resource.rbac_name}", mend=mend)
    pod_group = patient.definitions.get(POD_GROUPS.rbac_name)
    if pod_group is None:
        return
    known = fields_of(pod_group, POD_GROUPS, "spec")
    for name, consequence in _FIELDS.items():
        if known and name not in known:
            yield Finding(
                level=Level.WARNING,
                what=f"has no spec.{name}: {consequence}",
                where=f"CRD {POD_GROUPS.rbac_name}",
                mend="upgrade Volcano and its CRDs",
            )
