"""Keeping the registration in step: whole object or the bundle only, writes only when something differs.

Left out: the object's content (test_configuration), server-side apply itself (tests/integration/test_webhook.py).
"""

import base64
import copy
from datetime import timedelta

import pytest

from lws_volcano.webhook.certificates import Lifetimes, advance
from lws_volcano.webhook.configuration import WEBHOOK, Registered
from lws_volcano.webhook.registration import Registration
from tests.unit.webhook.clocks import StandingClock

REGISTERED = Registered(target="https://127.0.0.1:9443/mutate-pods")


class Configurations:
    """A cluster's webhook configuration; apply merges the way the API server does, defaults included."""

    def __init__(self, current=None):
        self.current = current
        self.writes = 0

    async def read(self, _name):
        """The object."""
        return copy.deepcopy(self.current)

    async def apply(self, manifest):
        """Merge by webhook name."""
        self.writes += 1
        if self.current is None:
            self.current = copy.deepcopy(dict(manifest))
            self.current["metadata"]["uid"] = "u"
            self.current["webhooks"][0]["clientConfig"].setdefault("defaulted", 1)
            return
        (hook,) = (hook for hook in self.current["webhooks"] if hook["name"] == WEBHOOK)
        (wanted,) = manifest["webhooks"]
        hook["clientConfig"] |= wanted["clientConfig"]
        hook |= {key: value for key, value in wanted.items() if key != "clientConfig"}


def registration(store, mode="manage", clock=None):
    """A registration over these configurations."""
    return Registration(registered=REGISTERED, mode=mode, store=store, clock=clock or StandingClock())


def bundle_in(store):
    """The bundle that the API server would use."""
    (hook,) = (hook for hook in store.current["webhooks"] if hook["name"] == WEBHOOK)
    return base64.b64decode(hook["clientConfig"]["caBundle"])


async def test_managed_is_written_once():
    """Absent: made. The same again: no write, whatever the API server filled in."""
    store = Configurations()
    assert await registration(store).step(b"CA", shared=True)
    assert not await registration(store).step(b"CA", shared=True)
    assert store.writes == 1


@pytest.mark.parametrize(
    ("field", "value"), [("failurePolicy", "Fail"), ("timeoutSeconds", 30), ("matchConditions", [])]
)
async def test_managed_edits_are_put_right(field, value):
    """Somebody else's edit of what is ours is undone."""
    store = Configurations()
    await registration(store).step(b"CA", shared=True)
    right = copy.deepcopy(store.current)
    store.current["webhooks"][0][field] = value
    assert await registration(store).step(b"CA", shared=True)
    assert store.current == right


async def test_installed_keeps_the_rest():
    """With an installed configuration only the bundle is written, beside webhooks of others."""
    other = {"name": "other.example.com", "clientConfig": {"caBundle": "b3RoZXI="}}
    ours = {"name": WEBHOOK, "x": 1, "clientConfig": {}}
    store = Configurations({"metadata": {"name": "lws-volcano"}, "webhooks": [ours, other]})
    keeping = registration(store, "ca-bundle")
    assert await keeping.step(b"CA", shared=True)
    assert not await keeping.step(b"CA", shared=True)
    assert bundle_in(store) == b"CA"
    assert store.current["webhooks"][0]["x"] == 1
    assert store.current["webhooks"][1] == other


@pytest.mark.parametrize("current", [None, {"metadata": {"name": "lws-volcano"}, "webhooks": None}])
async def test_nothing_installed_is_said_and_not_made(current):
    """The installation was taken away: it is not brought back by a controller that is still running."""
    store = Configurations(current)
    assert not await registration(store, "ca-bundle").step(b"CA", shared=True)
    assert store.writes == 0


async def test_replicas_on_their_own_trust_each_other():
    """Without a shared authority every replica's stays in the bundle until it expires."""
    clock, store = StandingClock(), Configurations()
    terms = Lifetimes(authority=timedelta(days=7))
    mine, theirs = (advance(None, ["localhost"], clock.now(), terms).ca_bundle for _ in range(2))
    first, second = registration(store, clock=clock), registration(store, clock=clock)
    await first.step(mine, shared=False)
    await second.step(theirs, shared=False)
    assert mine in bundle_in(store)
    assert theirs in bundle_in(store)
    clock.advance(timedelta(days=8))
    fresh = advance(None, ["localhost"], clock.now(), terms).ca_bundle
    await first.step(fresh, shared=False)
    assert bundle_in(store) == fresh
