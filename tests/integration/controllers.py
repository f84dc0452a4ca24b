"""lws-volcano as its own process, with the rights that the chart gives it and no more."""

import asyncio
import dataclasses
import re
from contextlib import asynccontextmanager

import aiohttp
import yaml

from deploy.local.controller import CONFIGURATION, start_controller
from deploy.local.resources import MUTATING_WEBHOOKS
from tests.unit.deploy_manifests.manifests import of_kind

__all__ = ["USER", "Controller", "Shared", "controller_of", "our_writes", "rights"]

USER = "lws-volcano"
_MANAGES = {
    "apiGroups": ["admissionregistration.k8s.io"],
    "resources": ["mutatingwebhookconfigurations"],
    "verbs": ["create", "get", "patch"],
}
"""Outside of a cluster there is no chart to install the registration."""


def rights():
    """Rules of the chart's roles."""
    return [rule for kind in ("ClusterRole", "Role") for role in of_kind(kind) for rule in role["rules"]] + [_MANAGES]


class Controller:
    """One replica at a time; `start` after `kill` is the next life of the same deployment."""

    def __init__(self, world, folder):
        self.world = world
        self._folder = folder
        self._lives = 0

    async def start(self, *more, settings=None, kubeconfig=None, rules=None, wait=True):
        """Start and wait until it serves; `settings` are those of docs/reference.md."""
        self._lives += 1
        self.name = f"controller-{self.world.namespace}-{self._lives}"
        if kubeconfig is None:
            kubeconfig = await self.world.plane.kubeconfig_for(USER, rights() if rules is None else rules)
        if settings:
            file = self._folder / f"{self.name}.yaml"
            file.write_text(yaml.safe_dump(settings))
            more = (*more, "--config", str(file))
        self.world.started.append(self.name)
        self.running = await start_controller(
            self.world.plane, self.world.api, *more, kubeconfig=kubeconfig, name=self.name, wait=wait
        )
        return self

    @property
    def started(self):
        """It was started at least once."""
        return self._lives > 0

    async def kill(self):
        """SIGKILL."""
        await asyncio.to_thread(self.world.plane.supervisor.stop, self.name, kill=True)

    async def stop(self):
        """SIGTERM, and wait for the end."""
        await asyncio.to_thread(self.world.plane.supervisor.stop, self.name)

    async def metrics(self):
        """Values of all metrics, by name with labels."""
        url = f"http://127.0.0.1:{self.running.metrics_port}/metrics"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            text = await answer.text()
        return {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", text, re.MULTILINE)}

    def log(self):
        """Lines of its log so far."""
        return self.running.child.log.read_text(encoding="utf-8").splitlines()


class Shared:
    """One controller for all tests that do not need its life to themselves; it runs from one of them to the next."""

    _now = None

    def __init__(self, folder):
        self.settings = {"stranded_after": 2.0}
        self._folder = folder
        self._controller = None

    async def ensure(self, world):
        """Start it unless it runs; no pod is made past its webhook."""
        if self._controller is None or not self._controller.running.child.running:
            controller = Controller(dataclasses.replace(world, started=[]), self._folder)
            await controller.start("--webhook-failure-policy", "Fail", settings=self.settings)
            self._controller, Shared._now = controller, self
        return self._controller

    @classmethod
    async def pause(cls):
        """End it: another one is about to start."""
        shared, cls._now = cls._now, None
        if shared is not None and shared._controller is not None:
            controller, shared._controller = shared._controller, None
            await controller.stop()
            # Its own cluster, which need not be that of the world which is about to be used.
            async with controller.world.plane.api("test") as api:
                await api.delete(MUTATING_WEBHOOKS, CONFIGURATION)


@asynccontextmanager
async def controller_of(world, folder):
    """A controller that is not started yet; its registration goes with it."""
    await Shared.pause()
    controller = Controller(world, folder)
    yield controller
    await world.api.delete(MUTATING_WEBHOOKS, CONFIGURATION)


def our_writes(world):
    """Writes of the controller in the world's namespace, as the API server counted them."""
    return [write for write in world.writes_of(USER) if write.namespace == world.namespace]
