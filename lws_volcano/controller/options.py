"""What `run` is told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lws_volcano.api.settings import Settings
from lws_volcano.controller.leader_election import ElectionTimes
from lws_volcano.kube.client import Client
from lws_volcano.kube.clock import Clock, SystemClock
from lws_volcano.observe.address import Address
from lws_volcano.observe.logging import LogFormat
from lws_volcano.placement.capacity import Capacity
from lws_volcano.state.cluster import Cluster

__all__ = ["Context", "RunOptions", "Service", "ServiceFactory", "Serving"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a service beside the reconcilers (the webhook) may use.

    Attributes
    ----------
    leading
        Whether this replica may write.
    capacity
        What is free, with the topology in use; None while there is none.
    """

    client: Client
    cluster: Cluster
    settings: Settings
    clock: Clock
    leading: Callable[[], bool]
    capacity: Callable[[], Capacity | None]


class Serving(Protocol):
    """Something that may not be able to serve yet."""

    def unready(self) -> str:
        """Why it cannot serve, or an empty text."""
        ...


class Service(Serving, Protocol):
    """Something that runs on every replica, leading or not, until it is cancelled."""

    async def run(self) -> None:
        """Serve."""
        ...


ServiceFactory = Callable[[Context], Service]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Everything that the command line decides.

    Attributes
    ----------
    kubeconfig, context
        None: the pod's service account, else $KUBECONFIG or ~/.kube/config.
    lease_namespace, lease_name
        The Lease that the replicas contend for.
    topology
        File, or directory of files, with topologies.
    metrics
        Where health and metrics are served; None for nowhere.
    services
        Name -> what else runs on every replica.
    """

    settings: Settings = field(default_factory=Settings)
    kubeconfig: str | None = None
    context: str | None = None
    leader_elect: bool = True
    lease_namespace: str = "lws-volcano-system"
    lease_name: str = "lws-volcano"
    election: ElectionTimes = field(default_factory=ElectionTimes)
    topology: Path | None = None
    metrics: Address | None = None
    log_format: LogFormat = "auto"
    log_level: str = "info"
    services: Sequence[tuple[str, ServiceFactory]] = ()
    clock: Clock = field(default_factory=SystemClock)
