"""Pods as they were at their creation, from the watch stream: what came later does not count."""

import asyncio
from types import TracebackType
from typing import Any, Self

from deploy.local.api import Api
from deploy.local.resources import PODS
from lws_volcano.api.names import GROUP_NAME, TASK_SPEC

__all__ = ["Births"]


class Births:
    """Records the first state of every pod of a namespace while it is open."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self.pods: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        listed = await self._api.request("GET", PODS.path(self._namespace))
        self._task = asyncio.create_task(self._record(listed["metadata"]["resourceVersion"]))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    @property
    def bound(self) -> bool:
        """There were pods, and each named its PodGroup and its task."""
        annotations = [pod["metadata"].get("annotations") or {} for pod in self.pods]
        return bool(annotations) and all(GROUP_NAME in one and TASK_SPEC in one for one in annotations)

    async def _record(self, version: str) -> None:
        async for event in self._api.watch(PODS, self._namespace, version):
            if event["type"] == "ADDED":
                self.pods.append(event["object"])
