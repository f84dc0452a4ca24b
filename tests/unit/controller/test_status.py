"""What our condition reads, and when it is written.

Covers: differences, transition times, removal, pacing. Leaves out: reasons and messages (tests/unit/mapping).
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lws_volcano.api.names import GANG_SCHEDULED, Reason
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.controller.status import News, StatusPacer, news, status_manifest
from lws_volcano.mapping.changes import GangCondition
from tests.contract import manifests
from tests.contract.clocks import ManualClock

NOW = datetime(2026, 1, 2, tzinfo=UTC)
WAITING = GangCondition(status=False, reason=Reason.WAITING_FOR_CAPACITY, message="0 of 1")


def lws(*conditions: dict[str, Any]) -> LeaderWorkerSet:
    """A set with these conditions."""
    return LeaderWorkerSet.parse({**manifests.lws("demo"), "status": {"conditions": list(conditions)}})


def written(wanted: GangCondition, *conditions: dict[str, Any]) -> dict[str, Any]:
    """The condition that is applied."""
    manifest = status_manifest(lws(*conditions), wanted, NOW)
    assert manifest is not None
    assert set(manifest["status"]) == {"conditions"}
    condition: dict[str, Any] = manifest["status"]["conditions"][0]
    return condition


def test_what_already_reads_so_is_not_written() -> None:
    """Applying the outcome of a write gives no further write, whatever other conditions there are."""
    condition = written(WAITING)
    assert status_manifest(lws({"type": "Available", "status": "True"}, condition), WAITING, NOW) is None


def test_the_transition_time_is_that_of_the_last_change_of_status() -> None:
    """A new message alone does not move it."""
    before = {**written(WAITING), "lastTransitionTime": "2025-01-01T00:00:00Z"}
    other = GangCondition(status=False, reason=Reason.STARTING, message="1 of 1")
    assert written(other, before)["lastTransitionTime"] == "2025-01-01T00:00:00Z"
    placed = GangCondition(status=True, reason=Reason.ALL_GROUPS_PLACED, message="")
    assert written(placed, before)["lastTransitionTime"] == "2026-01-02T00:00:00Z"


def test_a_condition_of_ours_goes_when_there_is_nothing_to_say() -> None:
    """By applying a status that does not name it; without one there is nothing to do."""
    manifest = status_manifest(lws(written(WAITING)), None, NOW)
    assert manifest is not None
    assert manifest["status"] == {}
    assert status_manifest(lws({"type": "Available", "status": "True"}), None, NOW) is None


def test_the_uid_makes_sure_that_it_is_the_same_set() -> None:
    """One that was deleted and made anew meanwhile is not written to."""
    manifest = status_manifest(lws(), WAITING, NOW)
    assert manifest is not None
    assert manifest["metadata"]["uid"] == "uid-of-demo"
    assert manifest["status"]["conditions"][0]["type"] == GANG_SCHEDULED


def test_a_difference_waits_for_the_next_and_writes_keep_a_distance() -> None:
    """Half a second from the first difference, one second from the last write."""
    pacer = StatusPacer(settle=0.5, interval=1.0)
    assert pacer.wait("a", now=10.0) == 0.5
    assert pacer.wait("a", now=10.4) < 0.11
    assert pacer.wait("a", now=10.5) <= 0
    pacer.written("a", now=10.5)
    assert pacer.wait("a", now=10.6) == 11.5 - 10.6
    pacer.in_step("a")
    assert pacer.wait("a", now=20.0) == 0.5


def test_what_only_says_more_about_the_same_status_waits_longer() -> None:
    """A starting group is waiting in many ways; that it is placed is told soon."""
    pacer = StatusPacer(settle=0.5, linger=2.0, recount=9.0)
    assert pacer.wait("a", now=10.0, news=News.WORDS) == 9.0
    assert pacer.wait("a", now=10.0, news=News.REASON) == 2.0
    assert pacer.wait("a", now=11.0, news=News.VERDICT) <= 0


def test_what_is_new_about_a_condition() -> None:
    """Status before reason and generation, those before the words; a first False is no turn."""
    there = lws(written(WAITING))
    placed = GangCondition(status=True, reason=Reason.ALL_GROUPS_PLACED, message="")
    assert news(there, placed) is News.VERDICT
    assert news(lws(), WAITING) is News.REASON
    assert news(there, replace(WAITING, reason=Reason.STARTING)) is News.REASON
    assert news(lws({**written(WAITING), "observedGeneration": 7}), WAITING) is News.REASON
    assert news(there, replace(WAITING, message="1 of 2")) is News.WORDS


def test_status_writes_leave_room_for_others() -> None:
    """No more than two under way: the third waits a moment, and finds a place when one has ended."""
    pacer, clock = StatusPacer(settle=0.0, abreast=2), ManualClock()
    with pacer.writing("a", clock), pacer.writing("b", clock):
        assert pacer.wait("c", now=10.0) == pacer.busy
    assert pacer.wait("c", now=10.0) <= 0
