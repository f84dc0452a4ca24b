"""Our webhook's registration: without it pods start outside of their gang."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lws_volcano.api.names import LWS_NAME
from lws_volcano.cli.checks.patient import Finding, Level, Patient
from lws_volcano.webhook.configuration import WEBHOOK

__all__ = ["check"]

_PEM: Final = b"-----BEGIN CERTIFICATE-----"


def check(patient: Patient) -> Iterator[Finding]:
    """Missing, unreachable by its certificate, or failing open."""
    if patient.webhooks is None:
        return
    ours = [(one, hook) for one in patient.webhooks for hook in one.get("webhooks") or () if hook["name"] == WEBHOOK]
    if not ours:
        yield Finding(
            level=Level.ERROR,
            what=f"none has the webhook {WEBHOOK}: no pod gets its PodGroup, Volcano makes one for each StatefulSet",
            where="MutatingWebhookConfigurations",
            mend="install the chart, or run with --webhook-registration manage",
        )
    for configuration, hook in ours:
        yield from _hook(f"MutatingWebhookConfiguration {configuration['metadata']['name']}", hook, patient)


def _hook(where: str, hook: Mapping[str, Any], patient: Patient) -> Iterator[Finding]:
    bundle = _bundle(hook)
    running = "look at the log of lws-volcano: a running replica fills it in"
    if not bundle.startswith(_PEM):
        what = "has no certificate in caBundle: the API server can't call us" if not bundle else "has a broken caBundle"
        yield Finding(level=Level.ERROR, what=what, where=where, mend=running)
    elif patient.certificate and patient.certificate.strip() not in bundle:
        what = "has a caBundle that is not the one of the serving certificate: the API server can't call us"
        yield Finding(level=Level.ERROR, what=what, where=where, mend=running)
    if hook.get("failurePolicy") == "Ignore":
        yield Finding(
            level=Level.WARNING,
            what="has failurePolicy Ignore: pods that are made while no replica answers start outside of their gang",
            where=where,
            mend="run two replicas, or choose Fail (webhook.failurePolicy) to have such pods wait",
        )
    selector = (hook.get("objectSelector") or {}).get("matchExpressions") or []
    if not any(one.get("key") == LWS_NAME for one in selector):
        what = "is asked about every pod of the cluster"
        yield Finding(level=Level.WARNING, what=what, where=where, mend=f"select pods with the label {LWS_NAME}")


def _bundle(hook: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode((hook.get("clientConfig") or {}).get("caBundle") or "", validate=True).strip()
    except (binascii.Error, ValueError):
        return b"?"
