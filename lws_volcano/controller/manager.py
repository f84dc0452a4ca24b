"""Puts the controller together, runs it, and stops it.

On every replica: one reflector a kind, the services (the webhook), health and metrics, and standing for election. On
the one that leads, besides: the workers. A stop (SIGTERM, SIGINT) ends the workers first, then gives the Lease back,
then ends the rest, within seconds.
"""

import asyncio
import signal
import socket
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

import structlog

from lws_volcano.api.errors import ClusterError
from lws_volcano.controller.events import Recorder
from lws_volcano.controller.executor import Executor
from lws_volcano.controller.gate import Gate
from lws_volcano.controller.hyper_nodes import HyperNodeKeeper
from lws_volcano.controller.leader_election import Alone, LeaderElector, Leadership
from lws_volcano.controller.lws_reconciler import LwsReconciler
from lws_volcano.controller.options import Context, RunOptions
from lws_volcano.controller.queue import WorkQueue
from lws_volcano.controller.responsiveness import keep_caches_frozen, switch_threads_often
from lws_volcano.controller.topology_follower import TopologyFollower
from lws_volcano.controller.topology_reconciler import TopologyReconciler
from lws_volcano.controller.vital_signs import VitalSigns
from lws_volcano.controller.workers import Reconcile, Workers
from lws_volcano.kube.backoff import Backoff
from lws_volcano.kube.client import Client
from lws_volcano.kube.discovery import capabilities
from lws_volcano.kube.watch import Timing
from lws_volcano.mapping.plan import plan_lws
from lws_volcano.observe import health, logging
from lws_volcano.observe.address import Address
from lws_volcano.state.cluster import Area, Cluster, Key
from lws_volcano.state.kinds import Kind
from lws_volcano.state.reflector import Reflector
from lws_volcano.state.store import Difference
from lws_volcano.state.topology_given import TopologyFiles

__all__ = ["Manager", "run"]

_log = structlog.get_logger(__name__)


def run(options: RunOptions) -> int:
    """Run until a signal asks to stop; the exit code."""
    logging.configure(options.log_format, options.log_level)
    switch_threads_often()
    return asyncio.run(_run(options))


async def _run(options: RunOptions) -> int:
    async with await Client.connect(options.kubeconfig, options.context, options.clock) as client:
        manager = Manager(client, options)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, manager.stop, number.name)
        try:
            await manager.run()
        except ExceptionGroup as group:
            error = _first(group)
            if not isinstance(error, OSError):
                raise
            # An address that is taken, or not ours: the message is all there is to know.
            _log.error("cannot run", error=str(error))
            return 1
    return 0


def _first(group: ExceptionGroup[Exception]) -> Exception:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, ExceptionGroup) else inner


class Manager:
    """One replica."""

    def __init__(self, client: Client, options: RunOptions) -> None:
        self.options = options
        self.client = client
        self.cluster = Cluster()
        self.queue: WorkQueue[Key] = WorkQueue(options.clock)
        self.gate = Gate(self.cluster, self._look_at_everything)
        self._stopping = asyncio.Event()
        self._pod_groups_listed = asyncio.Event()
        self._identity = f"{socket.gethostname()}_{int(options.clock.random() * 2**32):08x}"
        self._elector = self._make_elector() if options.leader_elect else None
        self.leadership: Leadership = self._elector or Alone()
        self.recorder = Recorder(client, options.clock, self._identity, self.leadership)
        self.lws = self._make_lws_reconciler()
        self.topology = self._make_topology_follower()
        self.topology_reconciler = TopologyReconciler(
            keeper=HyperNodeKeeper(self.cluster, options.settings, self._executor()),
            clock=options.clock,
            say=self.recorder.say,
            look_at=self._look_at,
        )
        timing = Timing(clock=options.clock)
        kinds = self.cluster.kinds
        self.reflectors = [
            Reflector(client, self.cluster, kind, timing) for kind in (*kinds.of_pass(), kinds.hyper_nodes)
        ]
        self.topology_reflectors = [Reflector(client, self.cluster, kind, timing) for kind in kinds.of_topology()]
        self.reconcilers: dict[Area, Reconcile] = {
            Area.LWS: self.lws.reconcile,
            Area.TOPOLOGY: self.topology_reconciler.reconcile,
        }
        self._services = {name: make(self._context()) for name, make in options.services}
        self.cluster.listen(self._changed)
        self.cluster.on_readiness(self._readiness_changed)

    def stop(self, why: str = "asked to") -> None:
        """End `run`, in order."""
        _log.info("stopping", why=why)
        self._stopping.set()

    async def run(self) -> None:
        """Run until `stop`.

        Raises
        ------
        ExceptionGroup
            A part of the program ended by itself: better to be started again than to go on without it.
        """
        async with asyncio.TaskGroup() as tasks:
            outer = self._start(tasks, self._lasting())
            inner = self._start(tasks, self._working())
            if self._elector is None:
                self.gate.lead(leading=True)
            await self._stopping.wait()
            await _end(inner)
            await _end(outer)

    def _lasting(self) -> dict[str, Coroutine[Any, Any, None]]:
        """What runs on every replica, and until the end."""
        parts = {f"reflector-{reflector.kind.name}": reflector.run() for reflector in self.reflectors}
        parts |= {"topology-reflectors": self._follow_topology(), **self.topology.parts()}
        parts |= {name: service.run() for name, service in self._services.items()}
        parts |= {"capabilities": self._follow_capabilities(), "reminder": self.gate.remind(self.options.clock)}
        parts["freezer"] = keep_caches_frozen(self._filled, self.options.clock)
        if self._elector is not None:
            parts["election"] = self._elector.run()
        if self.options.metrics is not None:
            parts["health"] = self._serve_health(self.options.metrics)
        return parts

    def _working(self) -> dict[str, Coroutine[Any, Any, None]]:
        """What writes, and therefore ends before the lease is given back."""
        workers = Workers(
            queue=self.queue,
            reconcilers=self.reconcilers,
            leadership=self.leadership,
            gate=self.gate.open,
            clock=self.options.clock,
            count=self.options.settings.workers,
        )
        return {
            "workers": workers.run(),
            "queue": self.queue.run(),
            "resync": self._resync(),
            "after-outages": self._after_outages(),
            "events": self.recorder.run(),
        }

    @staticmethod
    def _start(tasks: asyncio.TaskGroup, parts: Mapping[str, Coroutine[Any, Any, None]]) -> list[asyncio.Task[None]]:
        return [tasks.create_task(part, name=name) for name, part in parts.items()]

    def _make_elector(self) -> LeaderElector:
        options = self.options
        return LeaderElector(
            client=self.client,
            clock=options.clock,
            identity=self._identity,
            namespace=options.lease_namespace,
            name=options.lease_name,
            on_change=lambda leading: self.gate.lead(leading=leading),
            times=options.election,
        )

    def _executor(self) -> Executor:
        return Executor(self.client, self.cluster, self.leadership)

    def _make_topology_follower(self) -> TopologyFollower:
        path = self.options.topology
        return TopologyFollower(
            cluster=self.cluster,
            settings=self.options.settings,
            clock=self.options.clock,
            files=TopologyFiles(path) if path is not None else None,
            look_at=self._look_at_if_open,
        )

    def _make_lws_reconciler(self) -> LwsReconciler:
        return LwsReconciler(
            cluster=self.cluster,
            settings=self.options.settings,
            executor=self._executor(),
            plan=plan_lws,
            say=self.recorder.say,
            clock=self.options.clock,
        )

    def _context(self) -> Context:
        return Context(
            client=self.client,
            cluster=self.cluster,
            settings=self.options.settings,
            clock=self.options.clock,
            leading=self.leadership.may_write,
            capacity=self.topology.feed.current,
        )

    def _changed(self, kind: Kind[Any], difference: Difference[Any]) -> None:
        self._look_at_if_open(self.cluster.touched(kind, difference))

    def _look_at_if_open(self, keys: Iterable[Key]) -> None:
        # Until the gate opens there is nobody to work; then every key is looked at.
        if self.gate.open.is_set():
            self._look_at(keys)

    def _readiness_changed(self) -> None:
        if self.cluster.kinds.pod_groups.store.synced:
            self._pod_groups_listed.set()

    def _filled(self) -> bool:
        wanted = (*self.reflectors, *(self.topology_reflectors if self.topology.wanted.is_set() else ()))
        return self.cluster.ready and all(one.kind.store.synced or one.kind.store.missing for one in wanted)

    def _look_at_everything(self) -> None:
        self._look_at([*self.cluster.topology_keys(), *self.cluster.lws_keys()])

    def _look_at(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.queue.add(key)

    async def _follow_topology(self) -> None:
        await self.topology.wanted.wait()
        for reflector in self.topology_reflectors:
            reflector.attempt = self.options.clock.monotonic()
        # From now on health looks at them too.
        self.reflectors += self.topology_reflectors
        async with asyncio.TaskGroup() as tasks:
            self._start(tasks, {f"reflector-{r.kind.name}": r.run() for r in self.topology_reflectors})

    async def _after_outages(self) -> None:
        while True:
            await self.client.outage.over()
            self.queue.hurry()

    async def _resync(self) -> None:
        """Look at every key from time to time, spread out."""
        clock, period = self.options.clock, self.options.settings.resync
        while True:
            await clock.sleep(period)
            for key in (*self.cluster.topology_keys(), *self.cluster.lws_keys()):
                self.queue.add_after(key, clock.random() * period / 2)

    async def _follow_capabilities(self) -> None:
        backoff = Backoff(self.options.clock)
        # Without PodGroups there is nothing to ask about yet, and nobody to work.
        await self._pod_groups_listed.wait()
        while True:
            try:
                found = await capabilities(self.client, self.options.settings.scheduler_config)
            except ClusterError as error:
                _log.warning("cannot ask what Volcano can do, trying again", error=str(error))
                await backoff.wait()
                continue
            backoff.reset()
            if found != self.cluster.capabilities:
                self.cluster.capabilities = found
                self._look_at_everything()
            self.gate.informed()
            await self.options.clock.sleep(self.options.settings.rediscover)

    async def _serve_health(self, address: Address) -> None:
        signs = VitalSigns(
            cluster=self.cluster,
            reflectors=self.reflectors,
            services={**self._services, "topology": self.topology},
            rows=self.lws.rows,
            places=self.lws.places,
            waiting=lambda: len(self.queue),
            clock=self.options.clock,
        )
        runner = await health.serve(health.application(signs.health()), address.host, address.port)
        try:
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
