"""Recorded events of the real controllers in, right PodGroups at every step.

Covered: creation, scale down and up and to zero, rolling updates with and without surge, restarts, slow termination, a
lost node, leader-first start, sub-groups. After every event the world settles, and the PodGroups are compared with what
the recording's pods ask for, counted here. Left out: the scheduler's answers to them (integration).
"""

from functools import cache
from pathlib import Path

import pytest

from lws_volcano.mapping.changes import ApplyPodGroup, DeletePodGroup
from lws_volcano.mapping.plan import plan_lws
from tests.unit.mapping.recordings import Replay, read

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
FILES = sorted(TRACES.glob("*.jsonl*"))
pytestmark = pytest.mark.skipif(not FILES, reason="../shared/traces is not here")


def named(stem):
    """The recording of this name."""
    return next(path for path in FILES if path.name.startswith(stem))


@cache
def settled(stem):
    """A recording played to its end; not to be changed."""
    replay = Replay()
    for _ in replay.run(read(named(stem))):
        pass
    return replay


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_right_pod_groups_at_every_step(path):
    """One PodGroup a (group, revision) that has pods, no other, with the numbers of its own revision."""
    replay = Replay()
    steps = 0
    for step in replay.run(read(path)):
        steps += 1
        lws = step.world.lws
        by_name = {f"{lws.name}-{index}-{hash_}": hash_ for index, hash_ in step.expected}
        assert set(step.world.pod_groups) == set(by_name)
        for name, (members, tasks) in step.world.numbers().items():
            size = step.sizes[by_name[name]]
            full = (size, {"leader": 1, "worker": size - 1})
            if lws.spec.startup_policy == "LeaderReady":
                leader = step.raw.get(f"{lws.name}-0")
                full = full if leader and leader["spec"].get("nodeName") else (1, {"leader": 1})
            assert (members, tasks) == full
    assert steps > 5


@pytest.mark.parametrize(
    ("stem", "created", "updated", "left"),
    [
        ("b-our", 2, 0, 2),
        ("d-leaderready-two", 1, 1, 1),
        ("d-leaderready-dead", 1, 1, 1),
        ("h-sub", 1, 0, 1),
        ("i-slow", 1, 0, 1),
        ("m-node", 1, 0, 1),
        ("i-scale", 4, 0, 2),
        ("rolling-update-lazy", 16, 0, 8),
        ("rolling-update-surge", 7, 0, 3),
        ("a-provider", 11, 0, 4),
    ],
)
def test_no_write_more_than_needed(stem, created, updated, left):
    """A PodGroup is written once, and once more when a leader-first minimum rises."""
    world = settled(stem).world
    applies = [change for change in world.writes if isinstance(change, ApplyPodGroup)]
    assert [len([change for change in applies if not change.uid]), len([c for c in applies if c.uid])] == [
        created,
        updated,
    ]
    assert len(world.pod_groups) == left
    deletions = [change for change in world.writes if isinstance(change, DeletePodGroup)]
    assert len(deletions) == created - left
    assert len(world.writes) == len(applies) + len(deletions), "nothing but PodGroups was written"


def test_workers_of_the_leader_first_recording_need_no_gate():
    """The minimum was raised before they came, as it was seen on the real thing."""
    assert not any(settled("d-leaderready-two").gates().values())


def test_the_old_revision_keeps_its_resources_through_a_rollout():
    """Two cpu a worker is the new revision's number; the old one keeps one."""
    asked = {}
    for change in settled("rolling-update-lazy").world.writes:
        if isinstance(change, ApplyPodGroup):
            asked.setdefault(change.name.rpartition("-")[2], set()).add(change.manifest["spec"]["minResources"]["cpu"])
    assert sorted(map(sorted, asked.values())) == [["4"], ["7"]]


def test_while_lws_own_provider_makes_pod_groups_nothing_is_written():
    """At no moment at which one of its PodGroups is there."""
    replay, theirs, moments = Replay(), {}, 0
    for event in read(named("a-provider")):
        raw = event["object"]
        if event["resource"] == "podgroups":
            theirs.pop(raw["metadata"]["name"], None)
            if event["type"] != "DELETED":
                theirs[raw["metadata"]["name"]] = raw
        replay._take(event)
        if replay.world is not None and theirs:
            replay.world.pod_groups = dict(theirs)
            plan = plan_lws(replay.world.snapshot())
            assert not plan.changes
            assert plan.condition is None or plan.condition.reason == "StoodDown"
            moments += 1
            replay.world.pod_groups = {}
    assert moments > 50
