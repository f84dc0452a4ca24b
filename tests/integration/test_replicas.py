"""Two replicas: one writes, both answer admission, and one takes over from the other whatever becomes of it.

Each replica is a process with a user of its own, so the audit log says who wrote; one sits behind a proxy that can stop
every byte. Covers: a clean stop, SIGKILL, an API server that answers the leader no more. Left out: a Service in front
of both (tests/e2e); the times of the election (tests/contract).
"""

import asyncio
import json
import re
import ssl
import time
from contextlib import AsyncExitStack
from datetime import datetime

import aiohttp
import pytest_asyncio

from deploy.local.controller import NAMESPACE
from tests.integration.api import Resource
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import Controller, controller_of, rights
from tests.integration.expectations import small_pod
from tests.integration.observer import Observer
from tests.integration.proxy import faulty_proxy
from tests.integration.rightness import settled

LEASES = Resource("coordination.k8s.io/v1", "Lease", "leases")
LEASE = 5
"""Seconds; the leader must have renewed within two thirds of it."""
RETRY = 1.0
"""Seconds between two looks of a replica that stands by, and a little."""
FIRST, SECOND = "lws-volcano-a", "lws-volcano-b"
FLAGS = ("--lease-duration", str(LEASE))


class Pair:
    """Two replicas, the first of which leads."""

    def __init__(self, world, first, second, proxy):
        self.world = world
        self.first, self.second = first, second
        self.proxy = proxy

    async def leader(self):
        """User whose replica holds the Lease by its own account; empty while none does."""
        values = {
            user: await _leads(replica) for user, replica in ((FIRST, self.first), (SECOND, self.second))
        }  # fmt: skip
        assert sum(values.values()) <= 1, values
        return next((user for user, leads in values.items() if leads), "")

    async def taken_over(self, timeout):  # noqa: ASYNC109
        """Wait until the second replica leads; gives the seconds."""
        began = time.monotonic()

        async def look():
            assert await _leads(self.second)
            return True

        await self.world.eventually(look, timeout)
        return time.monotonic() - began

    def writes(self, user):
        """What a replica wrote in the test's namespace: what only the leader may."""
        return [one for one in self.world.writes_of(user) if one.namespace == self.world.namespace]


async def _leads(replica):
    if not replica.running.child.running:
        return False
    return (await replica.metrics()).get("lws_volcano_leader", 0.0) == 1.0


@pytest_asyncio.fixture
async def pair(world, tmp_path):
    """Both run and are ready; the first, behind the proxy, leads."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(controller_of(world, tmp_path))
        second = Controller(world, tmp_path)
        second._lives = 100  # processes are named by it
        proxy, through = await stack.enter_async_context(faulty_proxy(world.plane, FIRST, rights(), seed=0))
        await world.nodes(8)
        await first.start(*FLAGS, kubeconfig=through)
        await second.start(*FLAGS, kubeconfig=await world.plane.kubeconfig_for(SECOND, rights()))
        both = Pair(world, first, second, proxy)
        assert await both.leader() == FIRST
        yield both
        proxy.move()
        await first.stop()
        await second.stop()
        await world.api.delete(LEASES, "lws-volcano", NAMESPACE)


@pytest_asyncio.fixture
async def observed(world):
    """The observer is on; nobody leads for a while, so empty PodGroups may stay longer."""
    async with world.recorder() as recorder:
        observer = Observer(recorder, empty=60.0)
        world.recording, world.check = recorder, observer.check
        yield world
        world.check = lambda: None
        await observer.finish()


async def test_a_clean_stop_hands_over_at_once(observed, pair):
    """The Lease is given back: the other leads within a look, and goes on with what there is to do."""
    await _started(observed)
    await pair.first.stop()
    assert await pair.taken_over(5) < 2 * RETRY + 2
    await _goes_on(observed, pair)


async def test_a_replica_that_is_killed_is_followed_when_its_lease_is_out(observed, pair):
    """SIGKILL: the other leads after the lease and a look, and makes what is missing."""
    await _started(observed)
    await pair.first.kill()
    await observed.scale("held", 3)
    assert await pair.taken_over(LEASE + RETRY + 5) < LEASE + RETRY + 2
    await _goes_on(observed, pair)


async def test_a_leader_without_an_answer_stops_writing_before_another_leads(observed, pair):
    """Its lease runs out while every byte stands still; when they move again it writes nothing and stands by."""
    await _started(observed)
    pair.proxy.stall()
    await observed.scale("held", 3)
    await pair.taken_over(LEASE + RETRY + 5)
    led_from = len(pair.writes(FIRST))
    await settled(observed, timeout=30)
    assert await pair.leader() == SECOND
    since = datetime.now().astimezone()
    pair.proxy.move()
    await asyncio.sleep(LEASE)
    late = [one for one in pair.writes(FIRST)[led_from:] if datetime.fromisoformat(one.time) > since]
    assert late == []
    assert await pair.leader() == SECOND
    await _goes_on(observed, pair)


async def test_both_answer_admission(observed, pair):
    """Leading or not: the same pod gets the same group from either."""
    await _started(observed)
    pod = (await observed.pods("held"))[0]
    asked = {**pod, "metadata": {**pod["metadata"], "annotations": {}}}
    answers = [await _admitted(replica, asked) for replica in (pair.first, pair.second)]
    assert answers[0]["allowed"]
    assert answers[0]["patch"] == answers[1]["patch"]


async def _started(world):
    await world.create(leader_worker_set("held", replicas=2, size=2, worker=small_pod()))
    await world.running("held", 4)


async def _goes_on(world, pair):
    """The second replica does the work, and the end is right."""
    before = len(pair.writes(FIRST))
    await world.scale("held", 4)
    await settled(world, timeout=60)
    assert len(pair.writes(FIRST)) == before
    assert [one.resource for one in pair.writes(SECOND) if one.resource == "podgroups"]
    for replica in (pair.first, pair.second):
        assert not [line for line in replica.log() if "Traceback" in line]


async def _admitted(replica, pod):
    """Answer of one replica's webhook to the creation of a pod."""
    (port,) = re.findall(r'"port": (\d+), "event": "webhook listening"', "\n".join(replica.log()))
    request = {
        "uid": "1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": pod["metadata"]["namespace"],
        "object": pod,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    url = f"https://127.0.0.1:{port}/mutate-pods"
    async with aiohttp.ClientSession() as session, session.post(url, data=json.dumps(review), ssl=context) as answer:
        return (await answer.json())["response"]
