"""The effects: revisions, StatefulSets, services, deletions and status writes, one LeaderWorkerSet or pod at a time."""

import asyncio
import datetime as dt
from typing import Final

from deploy.local.api import Api
from deploy.local.keyed_work import KeyedWork
from deploy.local.lws_stand_in.names import (
    EXCLUSIVE,
    GROUP_INDEX,
    LEADER_READY,
    NAME,
    REPLICAS,
    REVISION,
    UNIQUE_SUBDOMAIN,
    Json,
    annotations,
    controller_of,
    group_size,
    is_leader,
    labels,
    owned_by,
    ready,
)
from deploy.local.lws_stand_in.restarts import broken, recreates, same_group
from deploy.local.lws_stand_in.revision import content, new_revision, of_hash, restored
from deploy.local.lws_stand_in.rollout import Budget, GroupState, Rollout, next_step
from deploy.local.lws_stand_in.stateful_sets import leader_set, worker_set
from deploy.local.lws_stand_in.status import new_status
from deploy.local.lws_stand_in.world import World, set_key
from deploy.local.mirror import key_of
from deploy.local.resources import LEADER_WORKER_SETS, PODS, REVISIONS, SERVICES, STATEFUL_SETS

__all__ = ["Controller"]

MANAGER: Final = "lws"
LATER: Final = 1.0


class Controller:
    """Follows the cluster and makes it what the LeaderWorkerSets say."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._world = World(api)
        self._set_work = KeyedWork(self._reconcile_set)
        self._pod_work = KeyedWork(self._reconcile_pod, workers=16)
        self._applied: dict[str, Json] = {}
        self._services: set[str] = set()
        self._listen()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for mirror in self._world.mirrors:
                group.create_task(mirror.run())
            await self._world.synced()
            group.create_task(self._set_work.run())
            group.create_task(self._pod_work.run())

    def _listen(self) -> None:
        def on_set(_old: Json | None, new: Json | None) -> None:
            if new is not None:
                self._set_work.add(key_of(new))

        def on_stateful_set(old: Json | None, new: Json | None) -> None:
            one = new or old or {}
            self._set_work.add(set_key(one))
            owner = controller_of(one)
            if owner and owner["kind"] == "Pod":
                self._pod_work.add(f"{one['metadata']['namespace']}/{owner['name']}")

        def on_pod(_old: Json | None, new: Json | None) -> None:
            if new is not None:
                self._pod_work.add(key_of(new))
                if is_leader(new):
                    self._set_work.add(set_key(new))

        self._world.sets.listen(on_set)
        self._world.stateful_sets.listen(on_stateful_set)
        self._world.pods.listen(on_pod)

    # --- sets

    async def _reconcile_set(self, key: str) -> float | None:
        lws = self._world.sets.get(key)
        if lws is None or lws["metadata"].get("deletionTimestamp"):
            self._forget(key)
            return None
        leaders = self._world.stateful_sets.get(key)
        if leaders is not None and leaders["metadata"].get("deletionTimestamp"):
            return LATER
        revision, changed = await self._revision(lws, leaders)
        states = self._world.states(lws, revision)
        await self._apply_leaders(lws, leaders, revision, states, changed=changed)
        await self._service(lws, lws, {NAME: lws["metadata"]["name"]}, unique=False)
        await self._write_status(lws, revision, states)
        return None

    def _forget(self, key: str) -> None:
        self._applied.pop(key, None)
        self._services = {one for one in self._services if not one.startswith(f"{key} ")}

    async def _revision(self, lws: Json, leaders: Json | None) -> tuple[str, bool]:
        """Hash of the newest revision, made where it is missing, and whether it is an update."""
        revisions = self._world.revisions_of(lws)
        running = of_hash(revisions, labels(leaders).get(REVISION, "")) if leaders is not None else None
        if running is None:
            newest = new_revision(lws, revisions)
            known = of_hash(revisions, labels(newest)[REVISION])
            return await self._make_revision(newest) if known is None else labels(known)[REVISION], False
        if running["data"] == content(lws):
            return labels(running)[REVISION], False
        return await self._make_revision(new_revision(lws, revisions)), True

    async def _make_revision(self, revision: Json) -> str:
        made = await self._api.create(REVISIONS, revision)
        self._world.revisions.remember(made)
        return labels(revision)[REVISION]

    async def _apply_leaders(
        self, lws: Json, leaders: Json | None, revision: str, states: dict[int, GroupState], *, changed: bool
    ) -> None:
        now = None
        if leaders is not None:
            now = Rollout(
                partition=int(leaders["spec"]["updateStrategy"]["rollingUpdate"].get("partition", 0)),
                replicas=int(leaders["spec"]["replicas"]),
                noted_replicas=int(annotations(leaders).get(REPLICAS, 0)),
            )
        each = [states.get(index, GroupState()) for index in range(now.replicas if now else 0)]
        partition, replicas = next_step(Budget.of(lws), now, each, changed=changed)
        wanted = leader_set(lws, partition=partition, replicas=replicas, revision=revision)
        key = key_of(lws)
        if leaders is not None and self._applied.get(key) == {**wanted, "seen": leaders["metadata"]["generation"]}:
            return
        made = await self._api.apply(STATEFUL_SETS, wanted, MANAGER)
        self._world.stateful_sets.remember(made)
        self._applied[key] = {**wanted, "seen": made["metadata"]["generation"]}

    async def _service(self, lws: Json, owner: Json, selector: dict[str, str], *, unique: bool) -> None:
        policy = (lws["spec"].get("networkConfig") or {}).get("subdomainPolicy")
        meta = owner["metadata"]
        token = f"{key_of(lws)} {meta['name']} {meta['uid']}"
        if (policy == UNIQUE_SUBDOMAIN) != unique or token in self._services:
            return
        body = {
            "metadata": {
                "name": meta["name"],
                "namespace": meta["namespace"],
                "labels": {NAME: lws["metadata"]["name"]},
                "ownerReferences": owned_by({"apiVersion": "v1", "kind": "Pod", **owner} if unique else owner),
            },
            "spec": {"clusterIP": "None", "selector": selector, "publishNotReadyAddresses": True},
        }
        await self._api.ensure(SERVICES, body)
        self._services.add(token)

    async def _write_status(self, lws: Json, revision: str, states: dict[int, GroupState]) -> None:
        leaders = self._world.stateful_sets.get(key_of(lws))
        count = (leaders or {}).get("status", {}).get("replicas", 0)
        outcome = new_status(lws, count, states, dt.datetime.now(dt.UTC))
        if outcome.status != lws.get("status"):
            written = await self._api.replace(LEADER_WORKER_SETS, {**lws, "status": outcome.status}, sub="status")
            self._world.sets.remember(written)
        if outcome.finished:
            for one in self._world.revisions_of(lws):
                if labels(one).get(REVISION) != revision:
                    await self._api.delete(REVISIONS, one["metadata"]["name"], one["metadata"]["namespace"])

    # --- pods

    async def _reconcile_pod(self, key: str) -> float | None:
        pod = self._world.pods.get(key)
        lws = self._world.sets.get(set_key(pod)) if pod else None
        if pod is None or lws is None:
            return None
        if broken(pod) and recreates(lws, self._world.group(pod)) and await self._restart(pod):
            return None
        if not is_leader(pod) or pod["metadata"].get("deletionTimestamp"):
            return None
        return await self._workers(lws, pod)

    async def _restart(self, pod: Json) -> bool:
        """Delete the leader in the foreground, so that it is remade only when its workers are gone."""
        leader = self._leader_of(pod)
        if leader is None:
            return False
        if leader["metadata"].get("deletionTimestamp"):
            return True
        await self._api.delete(
            PODS,
            leader["metadata"]["name"],
            leader["metadata"]["namespace"],
            propagationPolicy="Foreground",
            preconditions={"uid": leader["metadata"]["uid"]},
        )
        return True

    def _leader_of(self, pod: Json) -> Json | None:
        if is_leader(pod):
            return pod
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"].rpartition("-")[0]
        leader = self._world.pods.get(f"{namespace}/{name}")
        owner = controller_of(pod)
        workers = self._world.stateful_sets.get(f"{namespace}/{owner['name']}") if owner else None
        if workers is None or owner is None or workers["metadata"]["uid"] != owner["uid"]:
            return None
        above = controller_of(workers)
        return leader if leader is not None and same_group(pod, leader, owner, above) else None

    async def _workers(self, lws: Json, leader: Json) -> float | None:
        """Make the group's worker StatefulSet once its time has come; it is never changed afterwards."""
        own = {NAME: lws["metadata"]["name"], GROUP_INDEX: labels(leader)[GROUP_INDEX]}
        await self._service(lws, leader, own, unique=True)
        if group_size(lws) == 1 or self._world.stateful_sets.get(key_of(leader)) is not None:
            return None
        if lws["spec"].get("startupPolicy") == LEADER_READY and not ready(leader):
            return None
        revision = of_hash(self._world.revisions_of(lws), labels(leader).get(REVISION, ""))
        if revision is None:
            return LATER
        selector = None
        if topology := annotations(lws).get(EXCLUSIVE):
            node = self._world.nodes.get(leader["spec"].get("nodeName", ""))
            if node is None or topology not in labels(node):
                return None
            selector = {topology: labels(node)[topology]}
        body = worker_set(restored(lws, revision), leader, selector)
        self._world.stateful_sets.remember(await self._api.create(STATEFUL_SETS, body))
        return None
