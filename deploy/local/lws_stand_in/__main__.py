"""Run the stand-in; `--help` lists what it needs."""

import argparse
import asyncio
import signal
from pathlib import Path

from deploy.local.admission import AdmissionServer, Rule
from deploy.local.api import Api
from deploy.local.lws_stand_in.controller import Controller
from deploy.local.lws_stand_in.pod_admission import admit_pod
from deploy.local.lws_stand_in.set_admission import default_set, validate_set

SETS = "leaderworkerset.x-k8s.io/v1/leaderworkersets"
PODS = "/v1/pods"


async def _run(arguments: argparse.Namespace) -> None:
    server = AdmissionServer(arguments.certificate, arguments.key, arguments.authority)
    mutating = [
        Rule("mleaderworkerset.kb.io", SETS, ("CREATE", "UPDATE"), default_set),
        Rule("mpod.kb.io", PODS, ("CREATE",), admit_pod),
    ]
    validating = [Rule("vleaderworkerset.kb.io", SETS, ("CREATE", "UPDATE"), validate_set)]
    await server.start([*mutating, *validating])
    async with Api.from_kubeconfig(arguments.kubeconfig, "lws-stand-in") as api:
        await server.register(api, "lws-{}-webhook-configuration", mutating, validating)
        await Controller(api).run()


def main() -> None:
    """Run until a signal."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("kubeconfig", "certificate", "key", "authority"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(_run(arguments))


if __name__ == "__main__":
    main()
