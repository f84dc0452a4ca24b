"""What the checks are given, and what they give."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lws_volcano.api.settings import Settings
from lws_volcano.state.cluster import Cluster

__all__ = ["Check", "Finding", "Installed", "Level", "Patient"]


class Level(StrEnum):
    """An error breaks something now; a warning will, or may."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found: what, where, and how to mend it."""

    level: Level
    what: str
    where: str
    mend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Where things stand that others installed, `namespace/name`; an empty one is not looked at.

    Attributes
    ----------
    scheduler
        Deployment of the Volcano scheduler.
    scheduler_config, lws_config
        ConfigMaps of the scheduler and of the LeaderWorkerSet manager.
    """

    scheduler: str = "volcano-system/volcano-scheduler"
    scheduler_config: str = "volcano-system/volcano-scheduler-configmap"
    lws_config: str = "lws-system/lws-manager-config"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A cluster as far as it was read.

    Attributes
    ----------
    cluster
        The stores, filled once.
    settings
        Those that the controller runs with, as far as they were given.
    installed
        Where was looked.
    definitions
        CustomResourceDefinitions by name, undecoded; a name without a value was looked for and is not there. None where
        they may not be read.
    scheduler_config, lws_config
        ConfigMaps: key -> text. None where there is none, or it may not be read.
    scheduler_args
        Arguments of the Volcano scheduler's containers; None where its Deployment was not found.
    webhooks
        MutatingWebhookConfigurations, undecoded; None where they may not be read.
    certificate
        The certificate authority of the webhook, PEM; empty where it is not known.
    unread
        What could not be read, and why.
    """

    cluster: Cluster
    settings: Settings = field(default_factory=Settings)
    installed: Installed = field(default_factory=Installed)
    definitions: Mapping[str, Mapping[str, Any] | None] | None = None
    scheduler_config: Mapping[str, str] | None = None
    scheduler_args: Sequence[str] | None = None
    lws_config: Mapping[str, str] | None = None
    webhooks: Sequence[Mapping[str, Any]] | None = None
    certificate: bytes = b""
    unread: Mapping[str, str] = field(default_factory=dict)


Check = Callable[[Patient], Iterable[Finding]]
