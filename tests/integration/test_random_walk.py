"""200 random operations on five LeaderWorkerSets, the controller killed now and then, every event held to the rules.

Covers: scale, roll, resize, pods and leaders deleted, opting in and out, a controller that is killed and comes back, in
any order and on top of each other; when all has settled the world is exactly right. The seed is printed; set
LWS_VOLCANO_SEED to walk the same way again. Left out: queues, topology.
"""

import asyncio
import os
import random
import time
from contextlib import suppress

import pytest

from tests.integration.api import PODS, STATEFUL_SETS, ApiError
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import controller_of, our_writes
from tests.integration.expectations import GPU, small_pod
from tests.integration.observer import Observer
from tests.integration.rightness import settled

SETS = ("a", "b", "c", "d", "e")
STEPS = 200
LONGEST = 60.0
"""Seconds for the operations, all together; on a slow machine the walk is shorter."""
PAUSE = 0.08
ROUND, ROUNDS = 15.0, 5
"""Seconds until everything is right, and how often Kubernetes is told to try again before that."""
AWAY = 60.0
"""Seconds for which a PodGroup may be empty: the controller may be down meanwhile."""


class Walk:
    """The operations, each on a set that chance picks."""

    def __init__(self, world, controller, seed):
        self.world, self.controller = world, controller
        self.chance = random.Random(seed)
        self.version = 0
        self.done = []

    async def create(self):
        """Five sets of different kinds: plain, leader first, without restarts, with surge, with sub-groups."""
        surge = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1}}
        kinds = ({}, {"startupPolicy": "LeaderReady"}, {"restartPolicy": "None"}, {"rolloutStrategy": surge}, {})
        for name, more in zip(SETS, kinds, strict=True):
            await self.world.create(leader_worker_set(name, replicas=2, size=2, worker=small_pod(), **more))

    async def step(self):
        """One operation; what is gone already, or changed meanwhile, is no failure."""
        weights = {
            self.scale: 5, self.roll: 3, self.resize: 3, self.pod: 6, self.leader: 4, self.opt_out: 2, self.opt_in: 3,
            self.kill: 0.4,
        }  # fmt: skip
        (what,) = self.chance.choices([*weights], [*weights.values()])
        name = self.chance.choice(SETS)
        self.done.append(f"{what.__name__} {name}")
        try:
            await what(name)
        except ApiError as error:
            if error.status not in {404, 409}:
                raise

    async def scale(self, name):
        """0 to 4 groups."""
        await self.world.scale(name, self.chance.randint(0, 4))

    async def roll(self, name):
        """A template that was never there, or one that was there before."""
        self.version = self.chance.choice([self.version + 1, max(self.version - 1, 0)])
        template = small_pod(self.chance.choice([1, 1, 2]), labels={"version": str(self.version)})
        await self.world.change_template(name, workerTemplate=template)

    async def resize(self, name):
        """1 to 4 pods a group."""
        await self.world.change_template(name, size=self.chance.randint(1, 4))

    async def pod(self, name):
        """Any pod is deleted."""
        pods = [pod["metadata"]["name"] for pod in await self.world.pods(name)]
        if pods:
            await self.world.api.delete(PODS, self.chance.choice(pods), self.world.namespace)

    async def leader(self, name):
        """A leader is deleted."""
        await self.world.api.delete(PODS, f"{name}-{self.chance.randint(0, 3)}", self.world.namespace)

    async def opt_out(self, name):
        """No gang from now on."""
        await self.world.annotate(name, gang=None)

    async def opt_in(self, name):
        """A gang from now on."""
        await self.world.annotate(name, gang="true")

    async def kill(self, _):
        """The controller is killed and started again, without a pause."""
        await self.controller.kill()
        await self.controller.start("--no-leader-elect", "--webhook-failure-policy", "Fail", wait=False)

    async def end(self):
        """Everybody in, with two groups and a template of their own: what the walk left behind must find its place."""
        for name in SETS:
            await self.world.annotate(name, gang="true")
            await self.world.scale(name, 2)
            template = small_pod(labels={"version": f"last-{name}"})
            await self.world.change_template(name, workerTemplate=template, size=3)

    async def settle(self):
        """Wait until the world is right, and let Kubernetes try at once what it was refused while nobody admitted pods.

        Its own back-off for a StatefulSet doubles with every refusal, up to 16 minutes, and ends with any change of it.
        """
        for _ in range(ROUNDS):
            for one in await self.world.api.list(STATEFUL_SETS, self.world.namespace):
                nudge = {"metadata": {"annotations": {"example.com/nudge": one["metadata"]["resourceVersion"]}}}
                with suppress(ApiError):
                    await self.world.api.patch(STATEFUL_SETS, one["metadata"]["name"], nudge, self.world.namespace)
            with suppress(AssertionError):
                return await settled(self.world, ROUND)
        return await settled(self.world, ROUND)


@pytest.mark.long
@pytest.mark.timeout(240)
async def test_200_random_operations(world, tmp_path):
    """No rule is broken on the way, and the end is exactly right."""
    seed = int(os.environ.get("LWS_VOLCANO_SEED") or random.randrange(2**31))
    print(f"LWS_VOLCANO_SEED={seed}")  # noqa: T201 - shown when it fails
    await world.nodes(12)
    async with controller_of(world, tmp_path) as controller, world.recorder() as recorder:
        await controller.start("--no-leader-elect", "--webhook-failure-policy", "Fail")
        observer = Observer(recorder, empty=AWAY)
        world.check = observer.check
        walk = Walk(world, controller, seed)
        await walk.create()
        deadline = time.monotonic() + LONGEST
        while len(walk.done) < STEPS and time.monotonic() < deadline:
            await walk.step()
            observer.check()
            await asyncio.sleep(PAUSE * walk.chance.random() * 2)
        print(f"{len(walk.done)} operations: {', '.join(walk.done[-20:])}")  # noqa: T201
        await walk.end()
        await walk.settle()
        await observer.finish(writes=lambda: our_writes(world))
        assert {**(await world.pods())[0]["spec"]["containers"][0]["resources"]["limits"]} == {GPU: "1"}
        assert not [line for line in controller.log() if "Traceback" in line]
        await controller.stop()
