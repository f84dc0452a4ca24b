"""The real LWS and Volcano programs in the place of the stand-ins.

They are in no package registry, so nothing here builds them: environment variables name executables that somebody
built elsewhere, and this module knows how to run them on loopback against the local control plane. What the API server
must hold for them (kinds that they watch, their webhooks) is in `real_documents`.

Volcano's admission server starts first, since its scheduler writes the `default` queue as soon as it comes up.
"""

import asyncio
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from deploy.local.api import Object, Resource
from deploy.local.control_plane import ControlPlane, free_ports
from deploy.local.errors import LocalError
from deploy.local.processes import Child
from deploy.local.real_documents import lws_documents, volcano_documents

__all__ = [
    "LWS_MANAGER",
    "VC_CONTROLLER_MANAGER",
    "VC_SCHEDULER",
    "VC_WEBHOOK_MANAGER",
    "Launch",
    "Program",
    "RealPrograms",
    "Site",
    "launch",
]

LWS_MANAGER: Final = "LWS_VOLCANO_TEST_LWS_MANAGER"
VC_SCHEDULER: Final = "LWS_VOLCANO_TEST_VC_SCHEDULER"
VC_CONTROLLER_MANAGER: Final = "LWS_VOLCANO_TEST_VC_CONTROLLER_MANAGER"
VC_WEBHOOK_MANAGER: Final = "LWS_VOLCANO_TEST_VC_WEBHOOK_MANAGER"

ADMISSIONS: Final = (
    "/podgroups/mutate",
    "/podgroups/validate",
    "/queues/mutate",
    "/queues/validate",
    "/hypernodes/validate",
    "/pods/validate",
)
PLUGINS: Final = (
    ({"name": "priority"}, {"name": "gang", "enablePreemptable": False}, {"name": "conformance"}),
    (
        {"name": "overcommit"},
        {"name": "drf", "enablePreemptable": False},
        {"name": "predicates"},
        {"name": "proportion"},
        {"name": "nodeorder"},
        {"name": "binpack"},
        {"name": "network-topology-aware"},
    ),
)
"""Volcano's own default list, and the plugin that reads HyperNodes."""

READY: Final = 60.0
"""Seconds until a program must answer on its port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where the programs run.

    Attributes
    ----------
    kubeconfig : Path
        Administrator of the control plane.
    folder : Path
        For the configuration files written here.
    certificate, key, authority : Path
        PEM files: serving certificate for 127.0.0.1, its key, and the authority that signed it.
    """

    kubeconfig: Path
    folder: Path
    certificate: Path
    key: Path
    authority: Path

    @classmethod
    def of(cls, plane: ControlPlane) -> "Site":
        """The folder of a running control plane, with a serving certificate of its authority."""
        serving = plane.authority.server("real-programs", "127.0.0.1", "localhost")
        return cls(
            kubeconfig=plane.kubeconfig,
            folder=plane.folder,
            certificate=serving.certificate,
            key=serving.key,
            authority=plane.authority.certificate,
        )


@dataclass(frozen=True, slots=True)
class Program:
    """One program to start; it is ready once it listens on `port`."""

    name: str
    argv: Sequence[str | Path]
    port: int
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """Documents for the API server, then programs, each ready before the next one starts."""

    documents: Sequence[Object]
    programs: Sequence[Program]


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPrograms:
    """Paths of the real programs, None where the stand-in serves.

    Attributes
    ----------
    lws_manager, vc_scheduler, vc_controller_manager, vc_webhook_manager : Path | None
        Executables.
    lws_provider : bool
        Switch on LWS's own Volcano provider.
    lws_args, scheduler_args : tuple of str
        Flags added to those given here, such as `--kube-api-qps=50` or `--percentage-nodes-to-find=100`.
    plugins : tuple of tuple of mapping
        Scheduler plugins, tier by tier.
    """

    lws_manager: Path | None = None
    vc_scheduler: Path | None = None
    vc_controller_manager: Path | None = None
    vc_webhook_manager: Path | None = None
    lws_provider: bool = False
    lws_args: tuple[str, ...] = ()
    scheduler_args: tuple[str, ...] = ()
    plugins: tuple[tuple[Mapping[str, Any], ...], ...] = PLUGINS

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "RealPrograms":
        """Read the four variables.

        Raises
        ------
        LocalError
            A variable names no executable file, or Volcano's scheduler comes without its controller manager.
        """
        programs = cls(
            lws_manager=_executable(environment, LWS_MANAGER),
            vc_scheduler=_executable(environment, VC_SCHEDULER),
            vc_controller_manager=_executable(environment, VC_CONTROLLER_MANAGER),
            vc_webhook_manager=_executable(environment, VC_WEBHOOK_MANAGER),
        )
        if (programs.vc_scheduler is None) != (programs.vc_controller_manager is None):
            raise LocalError(f"set both {VC_SCHEDULER} and {VC_CONTROLLER_MANAGER}, or neither")
        return programs

    def lws(self, site: Site) -> Launch | None:
        """How to start LWS; None where the stand-in serves."""
        if self.lws_manager is None:
            return None
        port, health = free_ports(2)
        config = _write(site.folder / "lws.json", self._lws_configuration(site, port, health))
        argv: list[str | Path] = [self.lws_manager, f"--config={config}", *self.lws_args]
        manager = Program("lws-manager", argv, port, {"KUBECONFIG": str(site.kubeconfig)})
        return Launch([*lws_documents(port, site.authority.read_bytes())], [manager])

    def volcano(self, site: Site) -> Launch | None:
        """How to start Volcano; None where the stand-in serves."""
        if self.vc_scheduler is None or self.vc_controller_manager is None:
            return None
        admission, controllers, scheduler = free_ports(3)
        config = _write(site.folder / "vc-scheduler.json", self._scheduler_configuration())
        scheduler_argv = [*_scheduler_argv(self.vc_scheduler, site, scheduler, config), *self.scheduler_args]
        programs = [
            Program("vc-controller-manager", _manager_argv(self.vc_controller_manager, site, controllers), controllers),
            Program("vc-scheduler", scheduler_argv, scheduler),
        ]
        if self.vc_webhook_manager is not None:
            argv = _admission_argv(self.vc_webhook_manager, site, admission)
            programs.insert(0, Program("vc-webhook-manager", argv, admission))
        served = ADMISSIONS if self.vc_webhook_manager else ()
        return Launch([*volcano_documents(admission, site.authority.read_bytes(), served)], programs)

    def _scheduler_configuration(self) -> dict[str, Any]:
        tiers = [{"plugins": [dict(plugin) for plugin in tier]} for tier in self.plugins]
        return {"actions": "enqueue, allocate, backfill", "tiers": tiers}

    def _lws_configuration(self, site: Site, port: int, health: int) -> dict[str, Any]:
        configuration: dict[str, Any] = {
            "apiVersion": "config.lws.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(_serving_folder(site))},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
            "metrics": {"bindAddress": "0"},
        }
        if self.lws_provider:
            configuration["gangSchedulingManagement"] = {"schedulerProvider": "volcano"}
        return configuration


async def launch(plane: ControlPlane, plan: Launch) -> None:
    """Start programs beside a control plane, which stops them too.

    Raises
    ------
    LocalError
        One ended, or does not listen in time; the message has its last log lines.
    """
    async with plane.api() as api:
        for document in plan.documents:
            await api.apply(_resource(document), document, "lws-volcano-local")
    for program in plan.programs:
        child = plane.supervisor.start(program.name, program.argv, program.environment)
        await asyncio.to_thread(_wait_for_port, child, program.port)


def _resource(document: Object) -> Resource:
    kind = document["kind"]
    return Resource(document["apiVersion"], kind, f"{kind.lower()}s", namespaced=False)


def _executable(environment: Mapping[str, str], variable: str) -> Path | None:
    value = environment.get(variable)
    if not value:
        return None
    path = Path(value).expanduser()
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise LocalError(f"{variable} names {value}, which is not an executable file: unset it or correct the path")
    return path.resolve()


def _serving_folder(site: Site) -> Path:
    """LWS wants a folder with tls.crt and tls.key."""
    folder = site.folder / "lws-serving"
    folder.mkdir(exist_ok=True)
    (folder / "tls.crt").write_bytes(site.certificate.read_bytes())
    (folder / "tls.key").write_bytes(site.key.read_bytes())
    return folder


def _admission_argv(program: Path, site: Site, port: int) -> list[str | Path]:
    return [
        program,
        f"--kubeconfig={site.kubeconfig}",
        "--listen-address=127.0.0.1",
        f"--port={port}",
        f"--webhook-url=https://127.0.0.1:{port}",
        f"--enabled-admission={','.join(ADMISSIONS)}",
        f"--tls-cert-file={site.certificate}",
        f"--tls-private-key-file={site.key}",
        f"--ca-cert-file={site.authority}",
    ]


def _manager_argv(program: Path, site: Site, health: int) -> list[str | Path]:
    return [
        program,
        f"--kubeconfig={site.kubeconfig}",
        "--leader-elect=false",
        "--controllers=pg-controller,queue-controller,hyperNode-controller",
        "--enable-healthz=true",
        f"--healthz-address=127.0.0.1:{health}",
    ]


def _scheduler_argv(program: Path, site: Site, health: int, configuration: Path) -> list[str | Path]:
    return [
        program,
        f"--kubeconfig={site.kubeconfig}",
        f"--scheduler-conf={configuration}",
        "--schedule-period=1s",
        "--leader-elect=false",
        "--cache-dumper=false",
        "--enable-healthz=true",
        f"--healthz-address=127.0.0.1:{health}",
    ]


def _write(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")  # JSON is YAML, which all of them read
    return path


def _wait_for_port(child: Child, port: int, timeout: float = READY) -> None:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        child.check()
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise LocalError(f"{child.name} does not listen on {port} after {timeout:.0f} s:\n{child.last_lines()}")
