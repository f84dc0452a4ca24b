"""The configuration, as one frozen value: read by the command line, given to pure code."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Settings"]


class Settings(BaseModel):
    """What an admin may decide. Every field is listed in `docs/reference.md`; times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scheduler_name: str = "volcano"
    """schedulerName that marks a pod as Volcano's."""
    gang_by_default: bool = False
    """Opt every LeaderWorkerSet in that does not say `lws-volcano.io/gang: "false"`."""
    placement: Literal["none", "preferred", "required"] | None = None
    """Hints where the LWS does not say; None: `preferred` with a topology, else `none`."""
    hyper_nodes: Literal["write", "read"] = "write"
    """Keep the HyperNodes of the topologies; or keep none, and take others' where there is no ClusterTopology."""
    exact_members: int = Field(default=200, ge=1)
    """HyperNodes list up to so many nodes one by one; longer lists become a label where that says the same."""
    scheduler_looks_at_all_nodes: bool = False
    """The scheduler runs with `--percentage-nodes-to-find=100`: preferences count beyond 100 nodes too."""
    scheduler_config: str = "volcano-system/volcano-scheduler-configmap"
    """ConfigMap of the scheduler (`namespace/name`), read to say when it ignores network topology; empty: not read."""
    stranded_after: float = Field(default=60.0, gt=0)
    """A group with some pods bound and one pending is called stranded after this time."""
    release_stranded: bool = False
    """Delete the leader of a stranded leader-first group once, so that LWS makes the group anew."""
    remake_after: float = Field(default=120.0, gt=0)
    """A wholly unbound `required` group whose domain has lost its room is made anew after this time."""
    remake_limit: int = Field(default=3, ge=0)
    """At most so many times a group."""
    workers: int = Field(default=8, ge=1)
    """LeaderWorkerSets reconciled at the same time."""
    resync: float = Field(default=600.0, gt=0)
    """Every key is looked at again after this time, changed or not."""
    rediscover: float = Field(default=60.0, gt=0)
    """What the installed Volcano can do, and its scheduler is configured to, is read again after this time."""
