"""What the webhook asks of the API server, and nothing more."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.kube.apply import apply, merge
from lws_volcano.kube.client import Client
from lws_volcano.kube.errors import Conflict, Forbidden, NotFound
from lws_volcano.kube.resources import LEADER_WORKER_SETS, MUTATING_WEBHOOKS, SECRETS
from lws_volcano.webhook.certificates import Material
from lws_volcano.webhook.keeper import StoreDeniedError, StoredMaterial
from lws_volcano.webhook.secret import material_of, new_secret, secret_patch

__all__ = ["Configurations", "SecretMaterial", "SetReader"]

_TIMEOUT: Final = 5.0


class SetReader:
    """One direct read of a LeaderWorkerSet."""

    def __init__(self, client: Client, timeout: float) -> None:
        self._client = client
        self._timeout = timeout

    async def __call__(self, namespace: str, name: str) -> LeaderWorkerSet | None:
        """The set, None where there is none."""
        try:
            raw = await self._client.get(LEADER_WORKER_SETS, namespace, name, within=self._timeout)
        except NotFound:
            return None
        # Validation of a large template takes milliseconds: not on the loop that answers the others.
        return await asyncio.to_thread(LeaderWorkerSet.parse, raw)


class SecretMaterial:
    """The Secret that all replicas share (a `keeper.MaterialStore`)."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name

    async def load(self) -> StoredMaterial:
        """Read it."""
        try:
            raw = await self._client.get(SECRETS, self._namespace, self._name, within=_TIMEOUT)
        except NotFound:
            return StoredMaterial(None)
        except Forbidden as error:
            raise StoreDeniedError(str(error)) from error
        return StoredMaterial(material_of(raw), raw["metadata"]["resourceVersion"])

    async def save(self, material: Material, version: str) -> bool:
        """Write it on top of `version`; False when somebody else was faster."""
        try:
            await self._write(material, version)
        except (Conflict, NotFound):
            return False
        except Forbidden as error:
            raise StoreDeniedError(str(error)) from error
        return True

    async def _write(self, material: Material, version: str) -> None:
        if not version:
            manifest = new_secret(self._namespace, self._name, material)
            await self._client.create(SECRETS, manifest, within=_TIMEOUT)
            return
        patch = secret_patch(material, version)
        await merge(self._client, SECRETS, self._namespace, self._name, patch, within=_TIMEOUT)


class Configurations:
    """MutatingWebhookConfigurations (a `registration.ConfigurationStore`)."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, name: str) -> Mapping[str, Any] | None:
        """The object, None where there is none."""
        try:
            return await self._client.get(MUTATING_WEBHOOKS, "", name, within=_TIMEOUT)
        except NotFound:
            return None

    async def apply(self, manifest: Mapping[str, Any]) -> None:
        """Server-side apply as our field manager, over whoever held the fields."""
        await apply(self._client, MUTATING_WEBHOOKS, manifest, within=_TIMEOUT)
