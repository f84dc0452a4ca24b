"""Keeps the serving certificate good while the server runs.

All replicas share one authority through a Secret, so that any of them answers under the same bundle; whoever finds
something due writes it, on the version that was read, and the others take over what they find. Without permission for
the Secret each replica has an authority of its own, short-lived, and the registration trusts them all.
"""

import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

import structlog

from lws_volcano.api.errors import ClusterError
from lws_volcano.kube.clock import Clock
from lws_volcano.observe import metrics
from lws_volcano.webhook.certificates import Lifetimes, Material, advance, expiry

__all__ = [
    "CertificateKeeper",
    "KeeperOptions",
    "MaterialStore",
    "StoreDeniedError",
    "StoredMaterial",
    "server_context",
]

_log = structlog.get_logger(__name__)
_ALONE = Lifetimes(authority=timedelta(days=7), serving=timedelta(days=7))
"""An authority that no Secret keeps dies with its process; its place in the bundle should not last much longer."""

_TRIES: Final = 5


class StoreDeniedError(ClusterError):
    """No permission for the Secret."""


@dataclass(frozen=True, slots=True)
class StoredMaterial:
    """What the Secret holds (None: nothing usable), and the version that a write is based on (empty: no Secret yet)."""

    material: Material | None
    version: str = ""


class MaterialStore(Protocol):
    """Where replicas share the material. Raises StoreDeniedError where permission is missing."""

    async def load(self) -> StoredMaterial:
        """Read it."""
        ...

    async def save(self, material: Material, version: str) -> bool:
        """Write it on top of `version`; False when somebody else was faster."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperOptions:
    """What a keeper works with."""

    names: Sequence[str]
    store: MaterialStore | None
    clock: Clock
    lifetimes: Lifetimes = field(default_factory=Lifetimes)


def server_context() -> ssl.SSLContext:
    """A TLS server context without a certificate yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class CertificateKeeper:
    """Loads the certificate into a live context, and again whenever it changes.

    Attributes
    ----------
    shared
        Whether the authority is the one in the Secret.
    """

    def __init__(self, context: ssl.SSLContext, options: KeeperOptions) -> None:
        self._context = context
        self._options = options
        self._material: Material | None = None
        self.shared = options.store is not None

    @property
    def ca_bundle(self) -> bytes:
        """Authorities that a caller has to trust; empty before the first step."""
        return self._material.ca_bundle if self._material else b""

    @property
    def expires(self) -> datetime | None:
        """End of the certificate in use."""
        return expiry(self._material) if self._material else None

    async def step(self) -> bool:
        """Look once, renew what is due, load what is new; whether something was new."""
        found = await self._shared_material() if self.shared else self._own_material()
        if found == self._material:
            return False
        _load(self._context, found)
        self._material = found
        metrics.WEBHOOK_CERTIFICATE_EXPIRES.set(expiry(found).timestamp())
        _log.info("serving certificate loaded", expires=expiry(found).isoformat(), shared=self.shared)
        return True

    async def _shared_material(self) -> Material:
        store = self._options.store
        if store is None:
            return self._own_material()
        try:
            return await self._agree(store)
        except StoreDeniedError as error:
            _log.warning("no permission for the certificate Secret, using one of our own", error=str(error))
            self.shared = False
            return self._own_material()

    async def _agree(self, store: MaterialStore) -> Material:
        for _ in range(_TRIES):
            stored = await store.load()
            wanted = advance(stored.material, self._options.names, self._options.clock.now(), self._options.lifetimes)
            if wanted is stored.material or await store.save(wanted, stored.version):
                return wanted
        raise ClusterError("the certificate Secret changes faster than it can be written")

    def _own_material(self) -> Material:
        mine = None if self.shared else self._material
        return advance(mine, self._options.names, self._options.clock.now(), _ALONE)


def _load(context: ssl.SSLContext, material: Material) -> None:
    # ssl reads key and chain from files only: ours exist, for this user alone, for the length of the call.
    with tempfile.TemporaryDirectory(prefix="lws-volcano-") as folder:
        chain, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        chain.write_bytes(material.certificate)
        key.touch(mode=0o600)
        key.write_bytes(material.key)
        context.load_cert_chain(chain, key)
