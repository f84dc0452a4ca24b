"""One look at a live cluster, for the commands that answer and end: every kind listed once, no watch."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from lws_volcano.api.errors import ClusterError
from lws_volcano.api.settings import Settings
from lws_volcano.kube.client import TIMEOUT, Client
from lws_volcano.kube.discovery import capabilities
from lws_volcano.kube.errors import Forbidden, NotFound, Unavailable
from lws_volcano.kube.lists import Page, Target, whole_list
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind
from lws_volcano.state.topology_given import TopologyFiles, given_topologies
from lws_volcano.topology.membership import is_ours

__all__ = ["in_cluster", "look", "require"]

T = TypeVar("T")


def in_cluster(args: argparse.Namespace, ask: Callable[[Client], Awaitable[T]]) -> T:
    """Connect as the arguments say and run `ask`.

    Raises
    ------
    ClusterError
        The cluster does not answer, or says no to something that can't be done without.
    """

    async def connected() -> T:
        async with await Client.connect(args.kubeconfig, args.context) as client:
            try:
                return await ask(client)
            except* Unavailable as group:
                why = _first(group)
                raise ClusterError(f"no answer from {client.host}: {why}; check --kubeconfig and --context") from None

    try:
        return asyncio.run(connected())
    except* ClusterError as group:
        failure = _first(group)
    raise failure


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def look(
    client: Client,
    settings: Settings | None = None,
    *,
    topology: str | None = None,
    every_pod: bool = False,
    refused: Callable[[Kind[Any], Forbidden], None] = lambda _kind, _error: None,
) -> Cluster:
    """A cluster's state as of now; kinds that may not be read, or are not there, are marked so in their store.

    Parameters
    ----------
    client
        To ask with.
    settings
        Those of the controller; without them its configuration counts as empty, and that of the scheduler is not read.
    topology
        Topology files that are mounted beside the ClusterTopologies of the cluster: a file or a directory.
    every_pod
        The pods are those of everybody, since all of them take room; else those of LeaderWorkerSets.
    refused
        Told of each kind that may not be read.

    Raises
    ------
    ClusterError
        The API server does not answer.
    """
    cluster = Cluster()
    kinds = cluster.kinds
    cluster.capabilities = await capabilities(client, settings.scheduler_config if settings else "")
    async with asyncio.TaskGroup() as tasks:
        for kind in kinds.all():
            if kind is kinds.pods and every_pod:
                tasks.create_task(_list(client, replace(kind, label_selector=""), refused))
            elif kind is not kinds.assigned:  # the slim form of the same pods, for a capacity that is kept up to date
                tasks.create_task(_list(client, kind, refused))
    if kinds.nodes.store.synced:
        nodes, read = tuple(kinds.nodes.store), settings is not None and settings.hyper_nodes == "read"
        foreign = [one for one in kinds.hyper_nodes.store if read and not is_ours(one)]
        files = TopologyFiles(Path(topology)) if topology is not None else None
        cluster.resolution = Catalog().resolve(given_topologies(kinds.topologies.store, files, foreign, nodes), nodes)
    return cluster


def require(*kinds: Kind[Any]) -> None:
    """See that kinds without which there is no answer could be read.

    Raises
    ------
    ClusterError
        One of them is not there, or may not be read.
    """
    for kind in kinds:
        if kind.store.missing:
            raise ClusterError(f"{kind.resource.rbac_name} can't be read: {kind.store.missing}")


async def _list(client: Client, kind: Kind[Any], refused: Callable[[Kind[Any], Forbidden], None]) -> None:
    target = Target(resource=kind.resource, label_selector=kind.label_selector, field_selector=kind.field_selector)
    items: list[tuple[Any, int]] = []
    try:
        async for part in whole_list(client, target, within=TIMEOUT):
            if isinstance(part, Page):
                items = [] if part.first else items
                items.extend((view, 0) for view in map(_parser(kind), part.items) if view is not None)
    except (Forbidden, NotFound) as error:
        kind.store.clear(str(error))
        if isinstance(error, Forbidden):
            refused(kind, error)
        return
    kind.store.replace(items, 0)


def _parser(kind: Kind[Any]) -> Callable[[dict[str, Any]], Any]:
    def parse(raw: dict[str, Any]) -> Any:
        try:
            return kind.parse(raw)
        except ValidationError:
            return None  # the controller logs it; a status must not fail because of one odd object

    return parse
