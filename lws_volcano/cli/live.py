"""One look at a live cluster, for the commands that answer and end: every kind listed once, no watch."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from lws_volcano.api.errors import ClusterError
from lws_volcano.kube.client import Client
from lws_volcano.kube.discovery import capabilities
from lws_volcano.kube.errors import Forbidden, NotFound
from lws_volcano.state.catalog import Catalog
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import Kind
from lws_volcano.state.topology_given import from_record

__all__ = ["add_cluster_arguments", "in_cluster", "look"]

PAGE = 500

T = TypeVar("T")


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """`--kubeconfig` and `--context`."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: KUBECONFIG, ~/.kube/config, or in-cluster")
    parser.add_argument("--context", help="context of the kubeconfig")


def in_cluster(args: argparse.Namespace, ask: Callable[[Client], Awaitable[T]]) -> T:
    """Connect as the arguments say and run `ask`.

    Raises
    ------
    ClusterError
        The cluster does not answer, or says no to something that can't be done without.
    """

    async def connected() -> T:
        async with await Client.connect(args.kubeconfig, args.context) as client:
            return await ask(client)

    try:
        return asyncio.run(connected())
    except* ClusterError as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        failure = error
    raise failure


async def look(client: Client, kinds: Callable[[Cluster], Iterable[Kind[Any]]] | None = None) -> Cluster:
    """A cluster's state as of now; kinds that may not be read are marked so in their store.

    Raises
    ------
    ClusterError
        The API server does not answer.
    """
    cluster = Cluster()
    cluster.capabilities = await capabilities(client)
    async with asyncio.TaskGroup() as tasks:
        for kind in cluster.kinds.all() if kinds is None else kinds(cluster):
            tasks.create_task(_list(client, kind))
    if cluster.kinds.nodes.store.synced:
        given = [from_record(one) for one in sorted(cluster.kinds.topologies.store, key=lambda one: one.key)]
        cluster.resolution = Catalog().resolve(given, tuple(cluster.kinds.nodes.store))
    return cluster


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
