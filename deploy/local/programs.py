"""The LeaderWorkerSet and Volcano programs of one control plane: our stand-ins, or the real ones where they are named.

`LWS_VOLCANO_TEST_LWS_MANAGER` names the real LWS manager; `LWS_VOLCANO_TEST_VC_SCHEDULER`, `…_VC_CONTROLLER_MANAGER`
and `…_VC_WEBHOOK_MANAGER` the real Volcano programs, of which all three are used or none.
"""

import asyncio
import dataclasses
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local.control_plane import ControlPlane
from deploy.local.errors import LocalError
from deploy.local.real_programs import Launch, RealPrograms, Site, launch
from deploy.local.resources import MUTATING_WEBHOOKS, QUEUES, VALIDATING_WEBHOOKS

__all__ = ["LWS_USER", "VOLCANO_USER", "Programs", "start_programs"]

TIMEOUT: Final = 60.0
LWS_USER: Final = "lws"
VOLCANO_USER: Final = "volcano"


@dataclass(frozen=True)
class Programs:
    """What runs: names under which the plane's supervisor knows the programs, and which side is real.

    The API server sees them as the users LWS_USER and VOLCANO_USER.
    """

    lws: tuple[str, ...]
    volcano: tuple[str, ...]
    real_lws: bool
    real_volcano: bool


async def start_programs(
    plane: ControlPlane, *, period: float = 0.2, seed: int | None = None, real: RealPrograms | None = None
) -> Programs:
    """Start both sides and wait until their webhooks and the default queue are there.

    Parameters
    ----------
    plane : ControlPlane
        Running; it stops them with itself.
    period : float
        Seconds between two scheduling sessions.
    seed : int, optional
        For the stand-in: ties fall the same way every time.
    real : RealPrograms, optional
        The real programs; those that the environment names when left out.

    Raises
    ------
    LocalError
        One ended or is not ready within a minute; the message has its last log lines.
    """
    real = real or RealPrograms.from_environment()
    real = dataclasses.replace(real, scheduler_args=(f"--schedule-period={period}s", *real.scheduler_args))
    site = Site.of(plane)
    volcano = real.volcano(dataclasses.replace(site, kubeconfig=plane.kubeconfig_as(VOLCANO_USER)))
    lws = real.lws(dataclasses.replace(site, kubeconfig=plane.kubeconfig_as(LWS_USER)))
    more = ["--period", str(period), *(["--seed", str(seed)] if seed is not None else [])]
    programs = Programs(
        volcano=await _start(plane, volcano, VOLCANO_USER, "scheduler_stand_in", more),
        lws=await _start(plane, lws, LWS_USER, "lws_stand_in", []),
        real_lws=lws is not None,
        real_volcano=volcano is not None,
    )
    await _ready(plane, [*programs.lws, *programs.volcano])
    return programs


async def _start(plane: ControlPlane, plan: Launch | None, user: str, module: str, more: list[str]) -> tuple[str, ...]:
    if plan is None:
        return _stand_in(plane, user, module, more)
    await launch(plane, plan)
    return tuple(program.name for program in plan.programs)


def _stand_in(plane: ControlPlane, user: str, module: str, more: list[str]) -> tuple[str, ...]:
    name = module.replace("_", "-")
    identity = plane.authority.server(name, "127.0.0.1")
    argv: list[str | Path] = [
        sys.executable, "-m", f"deploy.local.{module}",
        "--kubeconfig", plane.kubeconfig_as(user),
        "--certificate", identity.certificate,
        "--key", identity.key,
        "--authority", plane.authority.certificate,
        *more,
    ]  # fmt: skip
    root = Path(__file__).resolve().parents[2]
    plane.supervisor.start(name, argv, {"PYTHONPATH": str(root)})
    return (name,)


async def _ready(plane: ControlPlane, names: list[str]) -> None:
    """Wait for the webhooks of both (Volcano's scheduler may run without its own) and for the default queue."""
    deadline = time.monotonic() + TIMEOUT
    wanted = {"lws", "volcano"} if {"vc-webhook-manager", "scheduler-stand-in"} & {*names} else {"lws"}
    async with plane.api() as api:
        while True:
            for name in names:
                plane.supervisor.children[name].check()
            webhooks = [*await api.list(MUTATING_WEBHOOKS), *await api.list(VALIDATING_WEBHOOKS)]
            found = " ".join(one["metadata"]["name"] for one in webhooks)
            if all(one in found for one in wanted) and await api.find(QUEUES, "default"):
                return
            if time.monotonic() > deadline:
                raise LocalError(f"{' and '.join(names)} are not ready after {TIMEOUT:.0f} s, see {plane.logs}")
            await asyncio.sleep(0.05)
