"""`lws-volcano run`: the controller and its webhook."""

import argparse
import os
from pathlib import Path
from typing import Any, Final

from lws_volcano.api.errors import UsageError
from lws_volcano.cli.arguments import add_cluster_arguments
from lws_volcano.cli.settings import load_settings
from lws_volcano.controller.leader_election import ElectionTimes
from lws_volcano.controller.manager import run as run_controller
from lws_volcano.controller.options import Context, RunOptions, Service, ServiceFactory
from lws_volcano.observe.address import Address
from lws_volcano.webhook.options import WebhookOptions
from lws_volcano.webhook.planned_hints import PlannedHints
from lws_volcano.webhook.service import Webhook

__all__ = ["add_parser", "options_of", "run"]

NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_NOWHERE: Final = ""
_SHORTEST_LEASE: Final = 3


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="the controller",
        description="Watch LeaderWorkerSets, keep their PodGroups true, and serve the admission webhook.",
    )
    add_cluster_arguments(parser)
    parser.add_argument("--config", metavar="FILE", help="settings as YAML (see docs/reference.md)")
    parser.add_argument(
        "--topology", metavar="FILE|DIR", help="ClusterTopologies from files, beside those of the cluster; reloaded"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="LeaderWorkerSets worked on at a time")
    parser.add_argument("--namespace", metavar="NAME", help="of the Lease and of the webhook's Service and Secret")
    parser.add_argument(
        "--leader-elect",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write only while holding the Lease (default); without it there must be one replica only",
    )
    parser.add_argument("--lease-name", default="lws-volcano", metavar="NAME", help="default: %(default)s")
    parser.add_argument(
        "--lease-duration",
        type=int,
        default=15,
        metavar="SECONDS",
        help="from the last sign of a leader that died to the next one; default: %(default)s",
    )
    parser.add_argument(
        "--metrics-address",
        default="0.0.0.0:8080",
        metavar="HOST:PORT",
        help="health and metrics, empty for none; default: %(default)s",
    )
    parser.add_argument("--log-format", choices=("auto", "json", "pretty"), default="auto", help="default: %(default)s")
    parser.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info", help="default: %(default)s"
    )
    _add_webhook(parser.add_argument_group("admission webhook"))


def _add_webhook(group: Any) -> None:
    defaults = WebhookOptions()
    group.add_argument(
        "--webhook-address", default="0.0.0.0:9443", metavar="HOST:PORT", help="empty for none; default: %(default)s"
    )
    group.add_argument("--webhook-service", default=defaults.service, metavar="NAME", help="default: %(default)s")
    group.add_argument(
        "--webhook-host", default="", metavar="HOST", help="how the API server reaches this process without a Service"
    )
    group.add_argument(
        "--webhook-secret",
        default=defaults.secret,
        metavar="NAME",
        help="Secret that replicas share the certificate through, empty for one of our own; default: %(default)s",
    )
    group.add_argument(
        "--webhook-registration",
        choices=("manage", "ca-bundle", "none"),
        default=defaults.registration,
        help="what is kept of the MutatingWebhookConfiguration; default: %(default)s",
    )
    group.add_argument("--webhook-configuration", default=defaults.configuration, metavar="NAME", help="its name")
    group.add_argument(
        "--webhook-failure-policy",
        choices=("Ignore", "Fail"),
        default=defaults.failure_policy,
        help="of a managed registration; default: %(default)s",
    )


def run(args: argparse.Namespace) -> int:
    """Run until a signal."""
    return run_controller(options_of(args))


def options_of(args: argparse.Namespace) -> RunOptions:
    """What the command line says, as one value.

    Raises
    ------
    UsageError
        An address or a number that is none.
    InputError
        The configuration file is wrong.
    """
    settings = load_settings(args.config)
    if args.workers is not None:
        if args.workers < 1:
            raise UsageError(f"--workers {args.workers} is too small", mend="give 1 or more")
        settings = settings.model_copy(update={"workers": args.workers})
    namespace = args.namespace or _own_namespace()
    return RunOptions(
        settings=settings,
        kubeconfig=args.kubeconfig,
        context=args.context,
        leader_elect=args.leader_elect,
        lease_namespace=namespace,
        lease_name=args.lease_name,
        election=_election(args.lease_duration),
        topology=Path(args.topology) if args.topology else None,
        metrics=_address("--metrics-address", args.metrics_address),
        log_format=args.log_format,
        log_level=args.log_level,
        services=_services(args, namespace),
    )


def _election(seconds: int) -> ElectionTimes:
    if seconds < _SHORTEST_LEASE:
        raise UsageError(f"--lease-duration {seconds} is too short", mend=f"give {_SHORTEST_LEASE} or more seconds")
    return ElectionTimes.of(float(seconds))


def _services(args: argparse.Namespace, namespace: str) -> tuple[tuple[str, ServiceFactory], ...]:
    address = _address("--webhook-address", args.webhook_address)
    if address is None:
        return ()
    options = WebhookOptions(
        address=address,
        namespace=namespace,
        service=args.webhook_service,
        url_host=args.webhook_host,
        secret=args.webhook_secret,
        registration=args.webhook_registration,
        configuration=args.webhook_configuration,
        failure_policy=args.webhook_failure_policy,
    )

    def make(context: Context) -> Service:
        return Webhook(
            context.client,
            context.cluster,
            context.settings,
            options,
            leading=context.leading,
            hints=PlannedHints(context.capacity, context.cluster, context.settings),
            clock=context.clock,
            prepared=lambda: _prepared(context),
        )

    return (("webhook", make),)


def _prepared(context: Context) -> bool:
    """What hints come from is known: caches, topology, free room; what cannot be read is not waited for."""
    cluster, kinds = context.cluster, context.cluster.kinds
    listed = (one.store.synced or one.store.missing for one in (kinds.topologies, kinds.pods, kinds.lws))
    if not all(listed) or cluster.topology_pending():
        return False
    return cluster.topology is None or context.capacity() is not None or bool(kinds.assigned.store.missing)


def _address(flag: str, text: str) -> Address | None:
    if text == _NOWHERE:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004 - the highest port
        raise UsageError(f"{flag} {text!r} is not an address", mend="write HOST:PORT, or nothing at all for none")
    return Address(host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104 - a pod's address isn't known beforehand


def _own_namespace() -> str:
    """Namespace of the pod we run in; the chart's default outside of one."""
    given = os.environ.get("POD_NAMESPACE")
    if given:
        return given
    return NAMESPACE_FILE.read_text(encoding="utf-8").strip() if NAMESPACE_FILE.is_file() else "lws-volcano-system"
