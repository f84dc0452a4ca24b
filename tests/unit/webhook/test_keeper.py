"""Keeping the certificate good: replicas share a Secret, a live context takes a new certificate, no permission.

Connections are real TLS over loopback, time is not. Left out: issuing rules (test_certificates), the real Secret
(tests/integration/test_webhook.py).
"""

import asyncio
import ssl
from datetime import timedelta

import pytest

from lws_volcano.api.errors import ClusterError
from lws_volcano.webhook.keeper import (
    CertificateKeeper,
    KeeperOptions,
    StoreDeniedError,
    StoredMaterial,
    server_context,
)
from lws_volcano.webhook.secret import material_of, new_secret, secret_patch
from tests.unit.webhook.clocks import StandingClock


class SharedStore:
    """A Secret in memory, with versions."""

    def __init__(self, failure=None):
        self.raw = None
        self.version = 0
        self.failure = failure
        self.writes = 0

    async def load(self):
        """Read, as a request would: others run meanwhile."""
        await asyncio.sleep(0)
        if self.failure:
            raise self.failure
        return StoredMaterial(material_of(self.raw) if self.raw else None, str(self.version) if self.raw else "")

    async def save(self, material, version):
        """Write on top of a version."""
        await asyncio.sleep(0)
        if version != (str(self.version) if self.raw else ""):
            return False
        self.raw = new_secret("gpu", "s", material)
        self.version += 1
        self.writes += 1
        return True


def keeper(store, clock=None):
    """A keeper and its context."""
    options = KeeperOptions(names=("localhost",), store=store, clock=clock or StandingClock())
    return CertificateKeeper(server_context(), options)


async def served_certificate(kept):
    """What a caller that trusts the bundle gets over TLS."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=kept._context)
    async with server:
        trust = ssl.create_default_context(cadata=kept.ca_bundle.decode())
        # The certificates are of the year of the standing clock.
        trust.verify_flags |= 0x200000  # X509_V_FLAG_NO_CHECK_TIME
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname="localhost")
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        await reader.read()
        writer.close()
        await writer.wait_closed()
        return der


async def test_replicas_agree_on_one_authority():
    """Three start at once: one Secret is written, all serve from it."""
    store = SharedStore()
    kept = [keeper(store) for _ in range(3)]
    await asyncio.gather(*(one.step() for one in kept))
    assert store.writes == 1
    assert len({one.ca_bundle for one in kept}) == 1


async def test_renewal_reaches_the_live_context():
    """New connections get the new certificate on the same context, verified by the bundle; nothing is restarted."""
    clock, store = StandingClock(), SharedStore()
    kept = keeper(store, clock)
    await kept.step()
    first = await served_certificate(kept)
    assert not await kept.step()
    clock.advance(timedelta(days=61))
    assert await kept.step()
    assert await served_certificate(kept) != first


async def test_other_replica_takes_over_a_renewal():
    """Who comes later finds the renewed certificate and writes nothing."""
    clock, store = StandingClock(), SharedStore()
    first, second = keeper(store, clock), keeper(store, clock)
    await first.step()
    await second.step()
    clock.advance(timedelta(days=61))
    assert await first.step()
    assert await second.step()
    assert store.writes == 2
    assert first.expires == second.expires


async def test_without_permission_each_has_its_own():
    """A forbidden Secret: served from memory, short-lived, renewed in time."""
    clock = StandingClock()
    kept = keeper(SharedStore(StoreDeniedError("secrets is forbidden")), clock)
    await kept.step()
    assert not kept.shared
    assert kept.expires - clock.now() <= timedelta(days=7)
    before = kept.expires
    for days in (5, 1):
        clock.advance(timedelta(days=days))
        await kept.step()
    assert kept.expires > before


async def test_failed_look_keeps_the_certificate():
    """API server down: the step is tried again later, what is loaded stays in use."""
    store = SharedStore()
    kept = keeper(store)
    await kept.step()
    before = kept.ca_bundle
    store.failure = ClusterError("503")
    with pytest.raises(ClusterError):
        await kept.step()
    assert kept.ca_bundle == before


async def test_a_broken_secret_is_replaced():
    """Garbage in the Secret becomes good material on top of the version that was read."""
    store = SharedStore()
    store.raw, store.version = {"data": {"ca.crt": "!!"}}, 4
    kept = keeper(store)
    await kept.step()
    assert store.version == 5


def test_secret_round_trip():
    """What is written is what is read; a patch carries the version it is based on."""
    store = SharedStore()
    kept = keeper(store)
    asyncio.run(kept.step())
    material = material_of(store.raw)
    assert material_of({"data": secret_patch(material, "7")["data"]}) == material
    assert secret_patch(material, "7")["metadata"] == {"resourceVersion": "7"}


@pytest.mark.parametrize("data", [None, {}, {"ca.crt": "eA==", "tls.crt": "eA=="}, {"ca.crt": 1}, {"ca.crt": "%"}])
def test_incomplete_secret_is_none(data):
    """A part missing or not base64: nothing usable, no traceback."""
    assert material_of({"data": data}) is None
