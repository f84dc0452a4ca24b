"""Webhooks of ours in this process, called by the real API server over loopback."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from deploy.local.control_plane import free_ports
from deploy.local.resources import MUTATING_WEBHOOKS
from lws_volcano.api.settings import Settings
from lws_volcano.kube.client import Client
from lws_volcano.observe.address import Address
from lws_volcano.observe.metrics import REGISTRY
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.options import WebhookOptions
from lws_volcano.webhook.service import Webhook

__all__ = ["Hooks", "answers", "stray_pod", "unused_port"]

LWS = "leaderworkerset.sigs.k8s.io/"
COUNTER = "lws_volcano_webhook_answers_total"


def answers(outcome=None):
    """Requests answered so far in this process, of one outcome or of all."""
    samples = [
        s for metric in REGISTRY.collect() for s in metric.samples if s.name == "lws_volcano_webhook_answers_total"
    ]
    return sum(sample.value for sample in samples if outcome in {None, sample.labels["outcome"]})


class Hooks:
    """Starts and stops webhooks; what is left at the end is stopped and its registration removed.

    Their caches are empty, so that every set is read from the API server.
    """

    def __init__(self, world):
        self.world = world
        self._stack = AsyncExitStack()
        self._tasks = {}
        self._configurations = set()
        self.options = WebhookOptions(
            address=Address("127.0.0.1", 0),
            drain=0.0,
            namespace=world.namespace,
            url_host="127.0.0.1",
            registration="manage",
            configuration=f"zzz-{world.namespace}",
            timeout=5,
            upkeep=0.2,
        )

    async def start(self, *, kubeconfig=None, clock=None, hints=None, **changes):
        """A running webhook, registered where its options say so."""
        options = replace(self.options, **changes)
        self._configurations.add(options.configuration)
        client = await self._stack.enter_async_context(
            await Client.connect(str(kubeconfig or self.world.plane.kubeconfig))
        )
        hook = Webhook(client, Cluster(), Settings(), options, leading=lambda: True, hints=hints, clock=clock)
        self._tasks[hook] = asyncio.create_task(hook.run())
        await self.world.eventually(lambda: self._serving(hook))
        if options.registration == "manage":
            await self.world.eventually(lambda: self._calls(hook, options.configuration))
        return hook

    async def stop(self, hook):
        """Stop one; its registration stays."""
        task = self._tasks.pop(hook)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def close(self):
        """Stop and remove everything."""
        for name in self._configurations:
            await self.world.api.delete(MUTATING_WEBHOOKS, name)
        for hook in list(self._tasks):
            await self.stop(hook)
        await self._stack.aclose()

    async def registered(self, name=None):
        """The only webhook of a configuration."""
        configuration = await self.world.api.get(MUTATING_WEBHOOKS, name or self.options.configuration)
        (hook,) = configuration["webhooks"]
        return hook

    async def _serving(self, hook):
        task = self._tasks[hook]
        if task.done():
            task.result()
        return not hook.unready()

    async def _calls(self, hook, name):
        """The API server has taken note of the registration: a probe pod arrives."""
        found = await self.world.api.find(MUTATING_WEBHOOKS, name)
        if found is None or f":{hook.port}/" not in found["webhooks"][0]["clientConfig"]["url"]:
            return False
        before = answers()
        await self.world.api.request(
            "POST",
            f"/api/v1/namespaces/{self.world.namespace}/pods",
            stray_pod("probe", self.world.namespace),
            params={"dryRun": "All"},
        )
        return answers() > before


def stray_pod(name, namespace, *, scheduler="volcano", labels=None, annotations=None):
    """A pod with an LWS label and no LeaderWorkerSet behind it; LWS wants its name to end in a number."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name if name[-1].isdigit() else f"{name}-1",
            "namespace": namespace,
            "labels": {LWS + "name": "nobody", LWS + "group-index": "0"} if labels is None else labels,
            "annotations": {LWS + "size": "2", LWS + "leader-name": "nobody-0", **(annotations or {})},
        },
        "spec": {"schedulerName": scheduler, "containers": [{"name": "c", "image": "example.com/c:1"}]},
    }


def unused_port():
    """A port on which nothing listens."""
    (port,) = free_ports(1)
    return port
