"""A kind, listed page by page.

Source: client-go tools/pager for what to do when the version of the first page expires before the last one is read.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from lws_volcano.kube.client import Client, Json
from lws_volcano.kube.errors import Gone
from lws_volcano.kube.resources import Resource

__all__ = ["PAGE", "WITHIN", "Listed", "Page", "Target", "whole_list"]

PAGE: Final = 500
WITHIN: Final = 60.0
"""Seconds for one page; all that there is may come as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is listed and watched."""

    resource: Resource
    label_selector: str = ""
    field_selector: str = ""

    def query(self, **more: str) -> dict[str, str]:
        """Query parameters, the empty ones left out."""
        asked = {"labelSelector": self.label_selector, "fieldSelector": self.field_selector, **more}
        return {name: value for name, value in asked.items() if value}


class Page(NamedTuple):
    """A part of a list; the first of a list makes earlier parts void."""

    items: Sequence[Json]
    first: bool


class Listed(NamedTuple):
    """All pages of a list have come; it is true of this version."""

    version: str


async def whole_list(
    client: Client, target: Target, *, page: int = PAGE, within: float = WITHIN
) -> AsyncIterator[Page | Listed]:
    """All of a kind: pages, then `Listed`.

    Raises
    ------
    ApiError, Unavailable
        A page could not be had.
    """
    try:
        async for part in _pages(client, target, page, within):
            yield part
    except Gone:
        # The list took longer than the server keeps the version of its first page: all at once, then.
        async for part in _pages(client, target, 0, within):
            yield part


async def _pages(client: Client, target: Target, limit: int, within: float) -> AsyncIterator[Page | Listed]:
    token, first = "", True
    while first or token:
        query = target.query(**({"limit": str(limit)} if limit else {}), **{"continue": token})
        page = await client.list_page(target.resource, query, within=within)
        metadata = page.get("metadata") or {}
        yield Page(page.get("items") or (), first)
        token, first = metadata.get("continue") or "", False
    yield Listed(str(metadata.get("resourceVersion") or ""))
