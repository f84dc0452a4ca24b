"""Volcano's controllers as far as they matter here: a PodGroup for pods without one, the default queue, queues Open."""

import aiohttp

from deploy.local.api import Api, Object
from deploy.local.errors import ApiError
from deploy.local.keyed_work import KeyedWork
from deploy.local.mirror import Mirror, key_of
from deploy.local.resources import POD_GROUPS, PODS, QUEUES
from deploy.local.scheduler_stand_in.model import GROUP_NAME

__all__ = ["Controllers"]


class Controllers:
    """Follows pods and queues."""

    def __init__(self, api: Api, pods: Mirror, queues: Mirror, scheduler: str) -> None:
        self._api = api
        self._pods = pods
        self._queues = queues
        self._scheduler = scheduler
        self._pod_work = KeyedWork(self._give_group, workers=5)
        self._queue_work = KeyedWork(self._open, workers=1)
        pods.listen(self._on_pod)
        queues.listen(self._on_queue)

    @property
    def work(self) -> tuple[KeyedWork, KeyedWork]:
        """What has to run."""
        return self._pod_work, self._queue_work

    async def default_queue(self) -> None:
        """Make the queue `default`."""
        body = {"metadata": {"name": "default"}, "spec": {"weight": 1, "reclaimable": True}}
        await self._api.ensure(QUEUES, body)

    def _on_pod(self, _old: Object | None, new: Object | None) -> None:
        if new is not None and new["spec"].get("schedulerName") == self._scheduler and not _group(new):
            self._pod_work.add(key_of(new))

    def _on_queue(self, _old: Object | None, new: Object | None) -> None:
        if new is not None and not (new.get("status") or {}).get("state"):
            self._queue_work.add(key_of(new))

    async def _open(self, key: str) -> None:
        if self._queues.get(key) is not None:
            await self._api.patch(QUEUES, key, {"status": {"state": "Open"}}, sub="status")

    async def _give_group(self, key: str) -> None:
        """A PodGroup of one member a workload, whose name is written into the pod."""
        pod = self._pods.get(key)
        if pod is None or _group(pod):
            return
        meta = pod["metadata"]
        owners = meta.get("ownerReferences") or []
        owner = next((one for one in owners if one.get("controller")), None)
        name = f"podgroup-{owner['uid'] if owner else meta['uid']}"
        group = {
            "metadata": {
                "name": name,
                "namespace": meta["namespace"],
                "ownerReferences": [owner] if owner else [_reference(pod)],
            },
            "spec": {"minMember": 1, "queue": "default"},
            "status": {"phase": "Pending"},
        }
        await self._api.ensure(POD_GROUPS, group)
        try:
            await self._api.patch(
                PODS, meta["name"], {"metadata": {"annotations": {GROUP_NAME: name}}}, meta["namespace"]
            )
        except (ApiError, aiohttp.ClientError):
            if self._pods.get(key) is not None:
                raise


def _group(pod: Object) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(GROUP_NAME, ""))


def _reference(pod: Object) -> dict[str, object]:
    meta = pod["metadata"]
    return {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
