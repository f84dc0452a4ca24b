"""lws-volcano as a program of its own beside the control plane, as it runs in a cluster."""

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from deploy.local.api import Api
from deploy.local.control_plane import ControlPlane, free_ports
from deploy.local.errors import LocalError
from deploy.local.processes import Child
from deploy.local.resources import MUTATING_WEBHOOKS, NAMESPACES

__all__ = ["CONFIGURATION", "NAMESPACE", "Running", "ready", "start_controller"]

NAMESPACE: Final = "lws-volcano-system"
CONFIGURATION: Final = "lws-volcano"
TIMEOUT: Final = 30.0
ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Running:
    """One replica as a process, and where it shows its metrics."""

    child: Child
    metrics_port: int


async def start_controller(
    plane: ControlPlane,
    api: Api,
    *more: str,
    kubeconfig: Path | None = None,
    name: str = "lws-volcano",
    wait: bool = True,
) -> Running:
    """Start one replica and wait until it is ready and its webhook is registered.

    Parameters
    ----------
    plane : ControlPlane
        It supervises the process and stops it with itself.
    more : str
        Further arguments of `lws-volcano run`.
    kubeconfig : Path, optional
        Other rights, or another way to the API server, than the admin's.
    wait : bool
        False: do not wait, such as for a start that can't succeed yet.

    Raises
    ------
    LocalError
        It ended early, or is not ready after half a minute; the message has its last log lines.
    """
    await api.ensure(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    metrics, webhook = free_ports(2)
    argv = _argv(kubeconfig or plane.kubeconfig, metrics, webhook, more)
    child = plane.supervisor.start(name, argv, {"PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + TIMEOUT
    while wait and not (await ready(metrics) and await _registered(api)):
        child.check()
        if time.monotonic() > deadline:
            raise LocalError(f"{name} is not ready after {TIMEOUT:.0f} s, last lines:\n{child.last_lines()}")
        await asyncio.sleep(0.1)
    return Running(child, metrics)


def _argv(kubeconfig: Path, metrics: int, webhook: int, more: Sequence[str]) -> list[str | Path]:
    return [
        sys.executable, "-m", "lws_volcano", "run",
        "--kubeconfig", kubeconfig,
        "--log-format", "json",
        "--namespace", NAMESPACE,
        "--metrics-address", f"127.0.0.1:{metrics}",
        "--webhook-address", f"127.0.0.1:{webhook}",
        "--webhook-host", "127.0.0.1",
        "--webhook-registration", "manage",
        "--webhook-configuration", CONFIGURATION,
        *more,
    ]  # fmt: skip


async def ready(port: int) -> bool:
    """Whether the replica with this metrics port calls itself ready."""
    url = f"http://127.0.0.1:{port}/readyz"
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status == 200  # noqa: PLR2004 - HTTP
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _registered(api: Api) -> bool:
    found = await api.find(MUTATING_WEBHOOKS, CONFIGURATION)
    return found is not None and all(one["clientConfig"].get("caBundle") for one in found["webhooks"])
