"""One PodGroup a group and revision that has pods, through rolling updates and back (rows 3b, 4 and 6).

Covers: a full cluster, surge as a number and in percent, several at once, a partition, a PodGroup that is still
terminating under the name that is needed again. Left out: changes of size and resources (test_policies_resize).
"""

import asyncio

import pytest

from lws_volcano.api.names import LWS_NAME, REVISION_HASH
from tests.integration.api import POD_GROUPS
from tests.integration.builders import leader_worker_set
from tests.integration.expectations import (
    condition_is,
    groups_are,
    history,
    our_groups,
    revision_of,
    small_pod,
    updated,
)
from tests.integration.rightness import settled

HOLD = "example.com/hold"


def _strategy(**rolling):
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, **rolling}}


def _next(number=2, gpus=1):
    return small_pod(gpus, labels={"version": str(number)})


def _kept_their_numbers(events, names):
    """No PodGroup of the old revision was changed while it stood."""
    for name in names:
        states = [state["spec"] for state in history(events, name)]
        assert all(state == states[0] for state in states), name


async def test_a_rolling_update_on_a_full_cluster_runs_through(watched):
    """No room for one group more: each new PodGroup comes with its leader pod, the old one goes with its last pod."""
    await watched.nodes(8)
    await watched.create(leader_worker_set(replicas=4, size=2, worker=small_pod(8), rolloutStrategy=_strategy()))
    await watched.running("demo", 8)
    before = {*await our_groups(watched)}
    await watched.change_template("demo", workerTemplate=_next(gpus=8))
    await updated(watched, "demo", 8)
    await settled(watched)
    assert not before & {*await our_groups(watched)}
    _kept_their_numbers(watched.events, before)


@pytest.mark.parametrize(
    "rolling",
    [{"maxSurge": 1}, {"maxSurge": "30%"}, {"maxUnavailable": 2}, {"maxSurge": 2, "maxUnavailable": 2}],
    ids=["surge-1", "surge-30%", "unavailable-2", "both-2"],
)
async def test_every_group_has_one_pod_group_of_its_own_revision(watched, rolling):
    """Surge groups have theirs, old ones keep their numbers until their pods are gone, none is left at the end."""
    await watched.nodes(4)
    await watched.create(
        leader_worker_set(replicas=4, size=2, worker=small_pod(), rolloutStrategy=_strategy(**rolling))
    )
    await watched.running("demo", 8)
    before = {*await our_groups(watched)}
    await watched.change_template("demo", workerTemplate=_next())
    await updated(watched, "demo", 8)
    await settled(watched)
    await groups_are(watched, "demo", "0123")
    _kept_their_numbers(watched.events, before)
    made = {event.name.split("-")[1] for event in watched.events if event.kind == "PodGroup"}
    assert ("4" in made) == ("maxSurge" in rolling)


async def test_with_a_partition_both_revisions_have_their_pod_groups(watched):
    """Partition 2 of 4: groups 0 and 1 stay old, 2 and 3 become new; at partition 0 all are new."""
    await watched.nodes(4)
    strategy = _strategy(partition=2, maxSurge=1)
    await watched.create(leader_worker_set(replicas=4, size=2, worker=small_pod(), rolloutStrategy=strategy))
    await watched.running("demo", 8)
    old = await revision_of(watched, "demo")
    await watched.change_template("demo", workerTemplate=_next())

    async def halves():
        new = await revision_of(watched, "demo")
        revisions = {}
        for name, one in (await our_groups(watched, "demo")).items():
            revisions.setdefault(name.split("-")[1], []).append(one["metadata"]["labels"][REVISION_HASH])
        assert {index: revisions.get(index) for index in "0123"} == {"0": [old], "1": [old], "2": [new], "3": [new]}
        return new != old

    await watched.eventually(halves, 60)
    await watched.change("demo", rolloutStrategy=_strategy(partition=0))
    await updated(watched, "demo", 8)
    await settled(watched)


async def test_back_to_a_revision_whose_pod_group_is_still_terminating(watched):
    """The old PodGroup is held by a finalizer: not taken for ours, pods wait; once it is gone a new one comes."""
    await watched.nodes(2)
    first = small_pod()
    await watched.create(leader_worker_set(size=2, worker=first))
    await watched.running("demo", 2)
    (old,) = await groups_are(watched, "demo", "0")
    name = old["metadata"]["name"]
    await watched.api.patch(POD_GROUPS, name, {"metadata": {"finalizers": [HOLD]}}, watched.namespace)
    await watched.change_template("demo", workerTemplate=_next())
    await updated(watched, "demo", 2)

    async def terminating():
        return "deletionTimestamp" in (await our_groups(watched))[name]["metadata"]

    await watched.eventually(terminating)
    await watched.change_template("demo", workerTemplate={**first, "metadata": {"labels": {"version": None}}})
    condition = await condition_is(watched, "demo", "NameTaken")
    assert "still being deleted" in condition["message"]
    await asyncio.sleep(0.5)
    pods = await watched.pods("demo")
    assert not any(pod["spec"].get("nodeName") for pod in pods if pod["metadata"]["labels"][LWS_NAME] == "demo")
    await watched.api.patch(POD_GROUPS, name, {"metadata": {"finalizers": None}}, watched.namespace)
    await updated(watched, "demo", 2)
    await settled(watched)
    (new,) = await groups_are(watched, "demo", "0")
    assert (new["metadata"]["name"], new["metadata"]["uid"] == old["metadata"]["uid"]) == (name, False)
