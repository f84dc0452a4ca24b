"""Keeps the registered MutatingWebhookConfiguration in step with what we serve.

In a cluster the configuration belongs to the installation (Helm or kustomize), so that taking the installation away
takes the webhook away too; then only `caBundle` is ours. A process outside the cluster manages the whole object.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import structlog

from lws_volcano.kube.clock import Clock
from lws_volcano.webhook.certificates import bundle
from lws_volcano.webhook.configuration import WEBHOOK, Registered, desired

__all__ = ["ConfigurationStore", "Mode", "Registration", "ca_bundle_patch"]

_log = structlog.get_logger(__name__)

Mode = Literal["manage", "ca-bundle"]


class ConfigurationStore(Protocol):
    """Reads and writes MutatingWebhookConfigurations."""

    async def read(self, name: str) -> Mapping[str, Any] | None:
        """The object, None where there is none."""
        ...

    async def apply(self, manifest: Mapping[str, Any]) -> None:
        """Server-side apply."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One webhook configuration, and how much of it is ours."""

    registered: Registered
    mode: Mode
    store: ConfigurationStore
    clock: Clock

    async def step(self, ca_bundle: bytes, *, shared: bool) -> bool:
        """Write what differs; whether something was written.

        Parameters
        ----------
        ca_bundle
            PEM of the authorities to trust.
        shared
            False when this replica's authority is its own: then those of the other replicas stay in the bundle.
        """
        current = await self.store.read(self.registered.name)
        if not shared:
            ca_bundle = bundle(ca_bundle, _present_bundle(current), now=self.clock.now())
        manifest = self._managed(current, ca_bundle) if self.mode == "manage" else self._bundle_only(current, ca_bundle)
        if manifest is None:
            return False
        await self.store.apply(manifest)
        _log.info("webhook registration written", name=self.registered.name, mode=self.mode)
        return True

    def _managed(self, current: Mapping[str, Any] | None, ca_bundle: bytes) -> dict[str, Any] | None:
        manifest = desired(self.registered, ca_bundle)
        return None if _contains(current or {}, manifest) else manifest

    def _bundle_only(self, current: Mapping[str, Any] | None, ca_bundle: bytes) -> dict[str, Any] | None:
        hooks = [hook for hook in (current or {}).get("webhooks") or () if hook.get("name") == WEBHOOK]
        if not hooks:
            _log.error(
                "no webhook is registered: pods of gangs are not bound at creation",
                name=self.registered.name,
                mend="install it with the chart, or run with --webhook-registration=manage",
            )
            return None
        return None if _present_bundle(current) == ca_bundle else ca_bundle_patch(self.registered.name, ca_bundle)


def ca_bundle_patch(name: str, ca_bundle: bytes) -> dict[str, Any]:
    """Apply configuration that owns nothing but the bundle of our webhook."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{"name": WEBHOOK, "clientConfig": {"caBundle": base64.b64encode(ca_bundle).decode()}}],
    }


def _present_bundle(current: Mapping[str, Any] | None) -> bytes:
    for hook in (current or {}).get("webhooks") or ():
        if hook.get("name") == WEBHOOK:
            return base64.b64decode((hook.get("clientConfig") or {}).get("caBundle") or "")
    return b""


def _contains(present: Any, wanted: Any) -> bool:
    """Whether every field that we want is there with our value; fields that the API server filled in don't count."""
    if isinstance(wanted, Mapping):
        return isinstance(present, Mapping) and all(_contains(present.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        same_length = isinstance(present, list) and len(present) == len(wanted)
        return same_length and all(_contains(*pair) for pair in zip(present, wanted, strict=True))
    return bool(present == wanted)
