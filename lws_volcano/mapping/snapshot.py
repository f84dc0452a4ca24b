"""All that the mapping of one LeaderWorkerSet may depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lws_volcano.api.cluster import Namespace, PriorityClass, RuntimeClass
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup, Queue
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet
from lws_volcano.topology.model import Topology

__all__ = ["Capabilities", "Snapshot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What the installed Volcano can do, read from its CustomResourceDefinitions and its configuration."""

    network_topology: bool = True
    """PodGroup has `spec.networkTopology`."""
    sub_groups: bool = True
    """PodGroup has `spec.subGroupPolicy` with `matchLabelKeys`."""
    topology_ignored: str = ""
    """Why the scheduler would silently ignore network topology, and how to mend it; empty when no reason is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One LWS and what surrounds it, taken from the stores at one moment.

    Attributes
    ----------
    pods
        Pods of the LWS's namespace with its name label (`names.LWS_NAME`), terminating ones too, in any order.
    revisions
        ControllerRevisions owned by this LWS (by UID).
    pod_groups
        PodGroups of the namespace that this LWS owns (by UID), carry its name label, or stand under a name that one of
        its groups would take: a stranger with our name has to be seen.
    queues, priority_classes, runtime_classes
        By name; None where we may not read the kind, then nothing is concluded from an absence.
    topology
        The configured topology, if there is one.
    places
        Name of a PodGroup -> since when the nodes that its leader is held to have no room for the group while others
        have, None while they have; only groups that wait, wholly unbound, for a place of their own.
    now
        The time of the snapshot: pure code reads no clock.
    """

    lws: LeaderWorkerSet
    now: datetime
    settings: Settings
    pods: tuple[Pod, ...] = ()
    revisions: tuple[ControllerRevision, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    namespace: Namespace | None = None
    queues: Mapping[str, Queue] | None = None
    priority_classes: Mapping[str, PriorityClass] | None = None
    runtime_classes: Mapping[str, RuntimeClass] | None = None
    topology: Topology | None = None
    places: Mapping[str, datetime | None] = field(default_factory=dict)
    capabilities: Capabilities = field(default_factory=Capabilities)
