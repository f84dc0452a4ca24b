"""What the controller knows: mirrors of the five kinds it deals with, and questions to them."""

import asyncio
from typing import Final

from deploy.local.api import Api
from deploy.local.lws_stand_in.names import (
    GROUP_INDEX,
    NAME,
    REVISION,
    Json,
    controller_of,
    group_size,
    is_leader,
    labels,
    running_and_ready,
)
from deploy.local.lws_stand_in.rollout import GroupState
from deploy.local.mirror import Mirror
from deploy.local.resources import LEADER_WORKER_SETS, NODES, PODS, REVISIONS, STATEFUL_SETS

__all__ = ["World"]

OURS: Final = NAME


class World:
    """Mirrors; pods, StatefulSets and revisions are found by the set they belong to."""

    def __init__(self, api: Api) -> None:
        self.sets = Mirror(api, LEADER_WORKER_SETS)
        self.pods = Mirror(api, PODS, selector=OURS, index=set_key)
        self.stateful_sets = Mirror(api, STATEFUL_SETS, selector=OURS, index=set_key)
        self.revisions = Mirror(api, REVISIONS, selector=OURS, index=set_key)
        self.nodes = Mirror(api, NODES)

    @property
    def mirrors(self) -> tuple[Mirror, ...]:
        """All of them."""
        return self.sets, self.pods, self.stateful_sets, self.revisions, self.nodes

    async def synced(self) -> None:
        """Wait for the first list of each."""
        await asyncio.gather(*(mirror.synced.wait() for mirror in self.mirrors))

    def revisions_of(self, lws: Json) -> list[Json]:
        """Revisions that the set owns."""
        uid = lws["metadata"]["uid"]
        return [one for one in self.revisions.having(_key(lws)) if (controller_of(one) or {}).get("uid") == uid]

    def group(self, pod: Json) -> list[Json]:
        """Pods of the same set and group index."""
        index = labels(pod).get(GROUP_INDEX)
        return [one for one in self.pods.having(set_key(pod)) if labels(one).get(GROUP_INDEX) == index]

    def states(self, lws: Json, revision: str) -> dict[int, GroupState]:
        """Group index -> state, for groups whose leader and worker StatefulSet exist."""
        alone = group_size(lws) == 1
        found: dict[int, GroupState] = {}
        for pod in self.pods.having(_key(lws)):
            if not is_leader(pod):
                continue
            workers = self.stateful_sets.get(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}")
            if not alone and workers is None:
                continue
            updated = labels(pod).get(REVISION) == revision
            ready = running_and_ready(pod)
            if workers is not None and not alone:
                updated = updated and labels(workers).get(REVISION) == revision
                ready = ready and _complete(workers)
            found[int(labels(pod)[GROUP_INDEX])] = GroupState(ready=ready, updated=updated)
        return found


def set_key(one: Json) -> str:
    """Key of the LeaderWorkerSet that an object's labels name."""
    return f"{one['metadata']['namespace']}/{labels(one).get(NAME, '')}"


def _key(lws: Json) -> str:
    return f"{lws['metadata']['namespace']}/{lws['metadata']['name']}"


def _complete(workers: Json) -> bool:
    status = workers.get("status", {})
    return bool(
        status.get("availableReplicas", 0) == workers["spec"]["replicas"]
        and status.get("currentRevision") == status.get("updateRevision")
    )
