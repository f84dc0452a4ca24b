"""`lws-volcano doctor`: what in this cluster would silently break gang or topology scheduling, and how to mend it."""

import argparse
import base64
import binascii
import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, TypeVar

from lws_volcano.api.settings import Settings
from lws_volcano.cli.arguments import add_cluster_arguments, add_settings_argument, add_topology_argument
from lws_volcano.cli.checks import definitions, hyper_nodes, provider, queues, rights, scheduler, sets, webhook
from lws_volcano.cli.checks.patient import Check, Finding, Installed, Level, Patient
from lws_volcano.cli.live import in_cluster, look
from lws_volcano.cli.settings import load_settings
from lws_volcano.kube.client import Client, Json
from lws_volcano.kube.errors import ApiError, Forbidden, NotFound
from lws_volcano.kube.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    MUTATING_WEBHOOKS,
    SECRETS,
    Resource,
)
from lws_volcano.state.kinds import Kind

__all__ = ["add_parser", "diagnose", "examine", "run"]

CHECKS: Final[tuple[Check, ...]] = (
    definitions.check, scheduler.check, hyper_nodes.check, provider.check, queues.check, webhook.check, sets.check,
    rights.check,
)  # fmt: skip
VOLCANO: Final = "volcano-system"
LWS: Final = "lws-system"

T = TypeVar("T")


def add_parser(subparsers: Any) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "doctor",
        help="what in this cluster would silently break gang or topology scheduling",
        description="Looks and changes nothing. Exit code 1 when something is broken, 0 when there are warnings only.",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument(
        "--volcano-namespace", metavar="NS", help=f"default: that of the setting scheduler_config, else {VOLCANO}"
    )
    parser.add_argument("--lws-namespace", default=LWS, metavar="NS", help="default: %(default)s")
    parser.add_argument("--webhook-secret", default="lws-volcano-webhook", metavar="NAME", help="default: %(default)s")
    parser.add_argument(
        "--namespace", default="lws-volcano-system", metavar="NS", help="of lws-volcano; default: %(default)s"
    )
    add_settings_argument(parser)
    add_topology_argument(parser)
    add_cluster_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the findings; 1 when one of them is an error."""
    found = diagnose(in_cluster(args, lambda client: examine(client, args)))
    if args.output == "json":
        print(json.dumps({"findings": [asdict(one) for one in found]}, indent=2))
    else:
        print(_text(found))
    return 1 if any(one.level is Level.ERROR for one in found) else 0


def diagnose(patient: Patient) -> list[Finding]:
    """All findings, errors first."""
    found = [finding for check in CHECKS for finding in check(patient)]
    return sorted(found, key=lambda one: one.level is not Level.ERROR)


async def examine(client: Client, args: argparse.Namespace) -> Patient:
    """Read what the checks need.

    Raises
    ------
    ClusterError
        The API server does not answer.
    """
    settings = load_settings(args.config)
    reader = _Reader(client)
    installed = _installed(args, settings)
    deployment = await reader.get(DEPLOYMENTS, *_split(installed.scheduler))
    return Patient(
        cluster=await look(client, settings, topology=args.topology, refused=reader.refused),
        settings=settings,
        installed=installed,
        definitions=await reader.definitions(),
        scheduler_config=await reader.config(installed.scheduler_config),
        scheduler_args=None if deployment is None else _arguments(deployment),
        lws_config=await reader.config(installed.lws_config),
        webhooks=await reader.list(MUTATING_WEBHOOKS),
        certificate=_authority(await reader.get(SECRETS, args.namespace, args.webhook_secret)),
        unread=reader.unread,
    )


def _installed(args: argparse.Namespace, settings: Settings) -> Installed:
    """The scheduler's ConfigMap is the one that the controller looks at, but for the namespace where one is given."""
    namespace, _, name = settings.scheduler_config.partition("/")
    volcano = args.volcano_namespace or namespace or VOLCANO
    return Installed(
        scheduler=f"{volcano}/volcano-scheduler",
        scheduler_config=f"{volcano}/{name}" if name else "",
        lws_config=f"{args.lws_namespace}/lws-manager-config",
    )


def _split(key: str) -> tuple[str, str]:
    namespace, _, name = key.partition("/")
    return namespace, name


class _Reader:
    """Reads, and notes what may not be read."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.unread: dict[str, str] = {}

    def refused(self, kind: Kind[Any], error: Forbidden) -> None:
        """A kind that may not be listed."""
        self.unread[kind.resource.rbac_name] = str(error)

    async def config(self, key: str) -> Mapping[str, str] | None:
        """Data of the ConfigMap `namespace/name`; None where there is none, it may not be read, or none is named."""
        found = await self.get(CONFIG_MAPS, *_split(key)) if key else None
        return None if found is None else found.get("data") or {}

    async def get(self, resource: Resource, namespace: str, name: str) -> Json | None:
        """The object; None where there is none, or it may not be read."""
        where = f"{resource.kind} {namespace}/{name}" if namespace else f"{resource.kind} {name}"
        return await self._try(self._client.get(resource, namespace, name), where)

    async def list(self, resource: Resource) -> Sequence[Json] | None:
        """All of a kind, of which there are few; None where they may not be read."""
        page = await self._try(self._client.list_page(resource, {}), resource.rbac_name)
        return None if page is None else page.get("items") or []

    async def definitions(self) -> Mapping[str, Json | None] | None:
        """Those that are checked; None where they may not be read."""
        names = [resource.rbac_name for resource in definitions.KINDS]
        found = {name: await self.get(CUSTOM_RESOURCE_DEFINITIONS, "", name) for name in names}
        return None if any(f"{CUSTOM_RESOURCE_DEFINITIONS.kind} {name}" in self.unread for name in names) else found

    async def _try(self, asked: Awaitable[T], where: str) -> T | None:
        try:
            return await asked
        except NotFound:
            return None
        except ApiError as error:
            self.unread[where] = error.message
            return None


def _arguments(deployment: Json) -> list[str]:
    containers = deployment["spec"]["template"]["spec"].get("containers") or ()
    return [str(word) for one in containers for word in (*(one.get("command") or ()), *(one.get("args") or ()))]


def _authority(secret: Json | None) -> bytes:
    try:
        return base64.b64decode(((secret or {}).get("data") or {}).get("ca.crt") or "", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _text(found: Sequence[Finding]) -> str:
    if not found:
        return "nothing found: gangs and topology can work here"
    return "\n".join(f"{one.level.value}: {one.where}: {one.what}\n  mend: {one.mend}" for one in found)
