"""Run the stand-in; `--help` lists what it needs."""

import argparse
import asyncio
import signal
from pathlib import Path

from deploy.local.admission import AdmissionServer, Rule
from deploy.local.api import Api
from deploy.local.scheduler_stand_in.controllers import Controllers
from deploy.local.scheduler_stand_in.pod_group_admission import PodGroupAdmission
from deploy.local.scheduler_stand_in.scheduler import Scheduler

POD_GROUPS = "scheduling.volcano.sh/v1beta1/podgroups"


async def _run(arguments: argparse.Namespace) -> None:
    async with Api.from_kubeconfig(arguments.kubeconfig, "scheduler-stand-in") as api:
        scheduler = Scheduler(api, name=arguments.scheduler_name, period=arguments.period, seed=arguments.seed)
        controllers = Controllers(api, scheduler.pods, scheduler.queues, arguments.scheduler_name)
        async with asyncio.TaskGroup() as group:
            for mirror in scheduler.mirrors:
                group.create_task(mirror.run())
            await controllers.default_queue()
            await scheduler.queues.synced.wait()
            await _serve(arguments, api, PodGroupAdmission(scheduler.queues, scheduler.namespaces))
            for work in controllers.work:
                group.create_task(work.run())
            group.create_task(scheduler.run())


async def _serve(arguments: argparse.Namespace, api: Api, admission: PodGroupAdmission) -> None:
    server = AdmissionServer(arguments.certificate, arguments.key, arguments.authority)
    mutating = [Rule("mutatepodgroup.volcano.sh", POD_GROUPS, ("CREATE",), admission.mutate)]
    validating = [Rule("validatepodgroup.volcano.sh", POD_GROUPS, ("CREATE",), admission.validate)]
    await server.start([*mutating, *validating])
    await server.register(api, "volcano-admission-service-podgroups-{}", mutating, validating)


def main() -> None:
    """Run until a signal."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("kubeconfig", "certificate", "key", "authority"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--scheduler-name", default="volcano")
    parser.add_argument("--period", type=float, default=1.0)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(_run(arguments))


if __name__ == "__main__":
    main()
