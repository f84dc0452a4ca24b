"""What the tables of rows share: names, numbers, and a world with one LWS in it."""

from lws_volcano.api import names
from lws_volcano.api.settings import Settings
from tests.unit.mapping.builders import HASH, lws, revision
from tests.unit.mapping.world import World

NEW = "5c9d7bb8f4"
GATE = names.MINIMUM_GATE
FULL = (4, {"leader": 1, "worker": 3})
FIRST = (1, {"leader": 1})


def name(index="0", hash_=HASH, of="demo"):
    """Name of a PodGroup."""
    return f"{of}-{index}-{hash_}"


def world(owner=None, *pods, revisions=None, **surroundings):
    """A world with the revision of the LWS's template."""
    owner = owner or lws()
    settings = surroundings.pop("settings", Settings())
    made = World(owner, surroundings=surroundings, settings=settings)
    live = owner.spec.leader_worker_template.manifest()
    made.put(*(revisions or [revision(owner, live)]), *pods)
    return made


def leader_ready(**more):
    """An LWS whose workers come after their leader."""
    return lws(startupPolicy="LeaderReady", **more)
