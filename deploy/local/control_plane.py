"""A whole control plane on loopback: etcd, kube-apiserver, kube-controller-manager and KWOK.

Everything it writes is in one temporary folder, which goes when it stops; etcd's data is in memory where /dev/shm has
room for it.
"""

import asyncio
import shutil
import socket
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from deploy.local import components
from deploy.local.api import Api
from deploy.local.audit import Write, read_writes
from deploy.local.binaries import Binaries, binaries
from deploy.local.certificates import Authority, Identity, service_account_key
from deploy.local.components import Credentials, Options, Ports
from deploy.local.crds import install
from deploy.local.errors import ApiError, LocalError
from deploy.local.kubeconfig import write_kubeconfig
from deploy.local.processes import Child, Supervisor
from deploy.local.users import grant

__all__ = ["ControlPlane", "free_ports"]

START_TIMEOUT: Final = 90.0
ATTEMPTS: Final = 4
MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
MEMORY_NEEDED: Final = 2**31


class ControlPlane:
    """A running control plane.

    Parameters
    ----------
    options : Options
        Tuning.
    crds : sequence of Path
        CRD files to install beside LeaderWorkerSet, PodGroup, Queue and HyperNode.
    programs : Binaries, optional
        Where the programs are; built into the cache folder when left out.

    Examples
    --------
    >>> async with ControlPlane() as plane:  # doctest: +SKIP
    ...     print(plane.kubeconfig)
    """

    def __init__(
        self, options: Options | None = None, *, crds: Sequence[Path] = (), programs: Binaries | None = None
    ) -> None:
        self._options = options or Options()
        self._crds = crds
        self._programs = programs
        self._folders: list[Path] = []
        self._argv: dict[str, list[str | Path]] = {}

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start everything and wait until it answers.

        Raises
        ------
        LocalError
            A program could not be built or ended early; the message has its last log lines.
        """
        programs = self._programs if self._programs is not None else await asyncio.to_thread(binaries)
        self._prepare()
        await self._retry_ports(programs)
        async with self.api() as api:
            await install(api, self._crds)
        self._start_controllers(programs)

    async def stop(self) -> None:
        """Stop everything that was started and remove its files."""
        if hasattr(self, "supervisor"):
            await asyncio.to_thread(self.supervisor.stop_all)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        self._folders.clear()

    # --- what a caller needs

    @property
    def server(self) -> str:
        """URL of the API server."""
        return self.ports.server

    @property
    def authority(self) -> Authority:
        """Signs certificates for webhook servers and users."""
        return self._authority

    @property
    def logs(self) -> Path:
        """Folder of the log files."""
        return self.folder / "logs"

    def api(self, agent: str = "lws-volcano-local") -> Api:
        """A client with all rights; use it with `async with`."""
        return Api.from_kubeconfig(self.kubeconfig, agent)

    async def kubeconfig_for(self, user: str, rules: Sequence[dict[str, Any]], *, server: str = "") -> Path:
        """Kubeconfig of a user who may do what `rules` (of a ClusterRole) say, and nothing else.

        `server` replaces the API server's address, such as by that of a proxy on loopback.
        """
        async with self.api() as api:
            await grant(api, user, rules)
        return self._kubeconfig(user, self._authority.client(user), server)

    def kubeconfig_as(self, name: str) -> Path:
        """Kubeconfig of a user with all rights and a name of its own, which the audit log then shows."""
        return self._kubeconfig(name, self._authority.client(name, "system:masters"))

    def writes(self) -> list[Write]:
        """Every write that the API server has answered so far."""
        return read_writes(self.folder / "audit.log")

    # --- for fault tests

    def stop_component(self, name: str, *, kill: bool = False) -> None:
        """Stop one program: etcd, kube-apiserver, kube-controller-manager or kwok."""
        self.supervisor.stop(name, kill=kill)

    async def start_component(self, name: str) -> None:
        """Start it again as it was; for etcd and the API server, wait until it answers."""
        child = self._run(name, self._argv[name])
        if name == "etcd":
            await self._ready(child, self._etcd_answers)
        if name == "kube-apiserver":
            await self._ready(child, self._apiserver_answers)

    async def restart_apiserver(self, *, down: float = 0.0, kill: bool = False) -> None:
        """Stop the API server, and start it again after `down` seconds."""
        await asyncio.to_thread(self.stop_component, "kube-apiserver", kill=kill)
        await asyncio.sleep(down)
        await self.start_component("kube-apiserver")

    # --- inside

    def _prepare(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lws-volcano-"))
        self._folders = [self.folder]
        self.logs.mkdir()
        self.supervisor = Supervisor(self.logs)
        self.supervisor.remove_when_killed(self.folder)
        self._data = self._data_folder()
        self._authority = Authority(self.folder)
        self._credentials = Credentials(
            authority=self._authority.certificate,
            server=self._authority.server("apiserver", "127.0.0.1", "localhost", "kubernetes.default.svc"),
            service_account_key=service_account_key(self.folder),
        )
        self._admin = self._authority.client("admin", "system:masters")

    def _data_folder(self) -> Path:
        if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED:
            folder = Path(tempfile.mkdtemp(prefix="lws-volcano-etcd-", dir=MEMORY))
            self._folders.append(folder)
            self.supervisor.remove_when_killed(folder)
            return folder
        return self.folder / "etcd"

    async def _retry_ports(self, programs: Binaries) -> None:
        """Another program may take a port between our look and our start."""
        for attempt in range(1, ATTEMPTS + 1):
            self.ports = Ports(*free_ports(3))
            self.kubeconfig = self._kubeconfig("admin", self._admin)
            try:
                await self._start_servers(programs)
            except LocalError as error:
                if attempt == ATTEMPTS or "address already in use" not in str(error):
                    raise
                self.supervisor.stop("kube-apiserver", kill=True)
                self.supervisor.stop("etcd", kill=True)
            else:
                return

    async def _start_servers(self, programs: Binaries) -> None:
        etcd = self._run("etcd", components.etcd(programs["etcd"], self._data, self.ports))
        audit = self.folder / "audit.log"
        argv = components.apiserver(programs["kube-apiserver"], self.ports, self._credentials, audit, self._options)
        apiserver = self._run("kube-apiserver", argv)
        await self._ready(etcd, self._etcd_answers)
        await self._ready(apiserver, self._apiserver_answers)

    def _start_controllers(self, programs: Binaries) -> None:
        name, key = "kube-controller-manager", self._credentials.service_account_key
        config = self.kubeconfig_as(name)
        self._run(name, components.controller_manager(programs[name], config, key, self._options))
        self._run("kwok", components.kwok(programs["kwok"], self.kubeconfig_as("kwok")))

    def _run(self, name: str, argv: list[str | Path]) -> Child:
        self._argv[name] = argv
        return self.supervisor.start(name, argv)

    def _kubeconfig(self, name: str, identity: Identity, server: str = "") -> Path:
        path = self.folder / f"{name.replace(':', '-')}.kubeconfig"
        return write_kubeconfig(path, server or self.server, self._authority.certificate, identity)

    async def _ready(self, child: Child, answers: Callable[[], Awaitable[bool]]) -> None:
        deadline = time.monotonic() + START_TIMEOUT
        while not await answers():
            child.check()
            if time.monotonic() > deadline:
                raise LocalError(
                    f"{child.name} did not answer within {START_TIMEOUT:.0f} s, last lines of {child.log}:\n"
                    f"{child.last_lines()}"
                )
            await asyncio.sleep(0.05)

    async def _etcd_answers(self) -> bool:
        url = f"http://127.0.0.1:{self.ports.etcd}/health"
        try:
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                return answer.status == 200  # noqa: PLR2004 - HTTP
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def _apiserver_answers(self) -> bool:
        try:
            async with self.api() as api:
                await api.request("GET", "/readyz")
        except (aiohttp.ClientError, ApiError, TimeoutError):
            return False
        return True


def free_ports(count: int) -> list[int]:
    """Loopback ports that nothing listens on at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
