"""The real LWS and Volcano programs in the place of the stand-ins.

Their programs are in no package registry, so nothing here builds them: environment variables name executables that
somebody built elsewhere, and this module knows how to run them on loopback against the local control plane. What the
API server must hold for them (kinds they watch, their webhooks) is in `real_documents`.

Volcano's admission server starts first, since its scheduler writes the `default` queue as soon as it comes up.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from deploy.local.errors import LocalError
from deploy.local.processes import Child, Supervisor
from deploy.local.real_documents import lws_documents, volcano_documents

__all__ = ["LWS_MANAGER", "VC_CONTROLLER_MANAGER", "VC_SCHEDULER", "VC_WEBHOOK_MANAGER", "RealPrograms", "Site"]

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
    free_port : Callable
        Gives a loopback port that nobody listens on.
    """

    kubeconfig: Path
    folder: Path
    certificate: Path
    key: Path
    authority: Path
    free_port: Callable[[], int]


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
        Flags added to those given here, such as `--kube-api-qps=500` or `--percentage-nodes-to-find=100`.
    """

    lws_manager: Path | None = None
    vc_scheduler: Path | None = None
    vc_controller_manager: Path | None = None
    vc_webhook_manager: Path | None = None
    lws_provider: bool = False
    lws_args: tuple[str, ...] = ()
    scheduler_args: tuple[str, ...] = ()
    plugins: tuple[tuple[Mapping[str, Any], ...], ...] = field(default=PLUGINS)

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

    def start_lws(self, site: Site, supervisor: Supervisor, apply: Callable[[dict[str, Any]], None]) -> None:
        """Start the LWS manager and return once its webhooks answer.

        Parameters
        ----------
        apply : Callable
            Creates or replaces one object at the API server.

        Raises
        ------
        LocalError
            It ended or did not answer in time.
        """
        if self.lws_manager is None:
            raise LocalError(f"set {LWS_MANAGER} to the LWS manager's executable")
        port, health = site.free_port(), site.free_port()
        for document in lws_documents(port, site.authority.read_bytes()):
            apply(document)
        config = _write(site.folder / "lws.json", self._lws_configuration(site, port, health))
        environment = {"KUBECONFIG": str(site.kubeconfig)}
        child = supervisor.start("lws-manager", [self.lws_manager, f"--config={config}", *self.lws_args], environment)
        _wait_for_port(child, port)

    def start_volcano(self, site: Site, supervisor: Supervisor, apply: Callable[[dict[str, Any]], None]) -> None:
        """Start Volcano's programs, the admission server first where it is named; arguments as for `start_lws`."""
        if self.vc_scheduler is None or self.vc_controller_manager is None:
            raise LocalError(f"set {VC_SCHEDULER} and {VC_CONTROLLER_MANAGER} to Volcano's executables")
        port = site.free_port()
        admissions = ADMISSIONS if self.vc_webhook_manager else ()
        for document in volcano_documents(port, site.authority.read_bytes(), admissions):
            apply(document)
        if self.vc_webhook_manager:
            _wait_for_port(
                supervisor.start("vc-webhook-manager", _admission_argv(self.vc_webhook_manager, site, port)),
                port,
            )
        self._start_pair(self.vc_controller_manager, self.vc_scheduler, site, supervisor)

    def _start_pair(self, manager: Path, scheduler: Path, site: Site, supervisor: Supervisor) -> None:
        ports = site.free_port(), site.free_port()
        config = _write(site.folder / "vc-scheduler.json", self._scheduler_configuration())
        controllers = supervisor.start("vc-controller-manager", _manager_argv(manager, site, ports[0]))
        scheduling = supervisor.start(
            "vc-scheduler", [*_scheduler_argv(scheduler, site, ports[1], config), *self.scheduler_args]
        )
        _wait_for_port(controllers, ports[0])
        _wait_for_port(scheduling, ports[1])

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
