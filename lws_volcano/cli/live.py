"""One look at a live cluster, for the commands that answer and end: every kind listed once, no watch."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from lws_volcano.api.errors import ClusterError
from lws_volcano.kube.client import Client
from lws_volcano.kube.discovery import capabilities
from lws_volcano.kube.errors import Forbidden, NotFound, Unavailable
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind
from lws_volcano.state.topology_given import from_record

__all__ = ["in_cluster", "look", "require"]

PAGE = 500

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


async def look(client: Client, *, every_pod: bool = False) -> Cluster:
    """A cluster's state as of now; kinds that may not be read are marked so in their store.

    With `every_pod` the pods are those of everybody, since all of them take room; else those of LeaderWorkerSets.

    Raises
    ------
    ClusterError
        The API server does not answer.
    """
    cluster = Cluster()
    kinds = cluster.kinds
    cluster.capabilities = await capabilities(client)
    async with asyncio.TaskGroup() as tasks:
        for kind in kinds.all():
            if kind is kinds.pods and every_pod:
                tasks.create_task(_list(client, replace(kind, label_selector="")))
            elif kind is not kinds.assigned:  # the slim form of the same pods, for a capacity that is kept up to date
                tasks.create_task(_list(client, kind))
    if cluster.kinds.nodes.store.synced:
        given = [from_record(one) for one in sorted(cluster.kinds.topologies.store, key=lambda one: one.key)]
        cluster.resolution = Catalog().resolve(given, tuple(cluster.kinds.nodes.store))
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


async def _list(client: Client, kind: Kind[Any]) -> None:
    query = {"limit": str(PAGE)}
    query |= {"labelSelector": kind.label_selector} if kind.label_selector else {}
    query |= {"fieldSelector": kind.field_selector} if kind.field_selector else {}
    items: list[tuple[Any, int]] = []
    try:
        while True:
            page = await client.list_page(kind.resource, query)
            items.extend((view, 0) for view in map(_parser(kind), page.get("items") or ()) if view is not None)
            query["continue"] = (page.get("metadata") or {}).get("continue") or ""
            if not query["continue"]:
                break
    except (Forbidden, NotFound) as error:
        kind.store.clear(str(error))
        return
    kind.store.replace(items, 0)


def _parser(kind: Kind[Any]) -> Callable[[dict[str, Any]], Any]:
    def parse(raw: dict[str, Any]) -> Any:
        try:
            return kind.parse(raw)
        except ValidationError:
            return None  # the controller logs it; a status must not fail because of one odd object

    return parse
