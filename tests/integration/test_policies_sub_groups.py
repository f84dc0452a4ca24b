"""LWS sub-groups become sub-groups of the PodGroup (row 8).

Covers: both types, where the sizes divide and where the leader is one more; sizes that do not divide, which get past
LWS only while its webhook is away; a PodGroup CRD without the field.
"""

import copy
from contextlib import asynccontextmanager

import pytest

from deploy.local.resources import VALIDATING_WEBHOOKS
from lws_volcano.api.names import SUBGROUP_INDEX
from tests.integration.api import ApiError
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import controller_of
from tests.integration.expectations import condition_is, groups_are, our_groups, small_pod, updated
from tests.integration.rightness import settled

LWS_CHECKS = "lws-validating-webhook-configuration"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgroups.scheduling.volcano.sh"


@pytest.mark.parametrize(
    ("kind", "size", "width", "counts"),
    [
        ("LeaderWorker", 4, 2, {"0": 2, "1": 2}),
        ("LeaderWorker", 5, 2, {"0": 3, "1": 2}),
        ("LeaderExcluded", 5, 2, {"0": 2, "1": 2, None: 1}),
    ],
    ids=["even", "leader-is-one-more", "leader-excluded"],
)
async def test_sub_groups_by_their_label(watched, kind, size, width, counts):
    """One policy with the label's key, as many sub-groups as there are, each as large as LWS makes it."""
    await watched.nodes(4)
    policy = {"subGroupPolicyType": kind, "subGroupSize": width}
    await watched.create(leader_worker_set(size=size, worker=small_pod(), subGroupPolicy=policy))
    pods = await watched.running("demo", size)
    (group,) = await groups_are(watched, "demo", "0")
    (found,) = group["spec"]["subGroupPolicy"]
    assert found["matchLabelKeys"] == [SUBGROUP_INDEX]
    assert (found["subGroupSize"], found["minSubGroups"]) == (width, 2)
    labels = [pod["metadata"]["labels"].get(SUBGROUP_INDEX) for pod in pods]
    assert {label: labels.count(label) for label in labels} == counts
    await settled(watched)
    await condition_is(watched, "demo", "AllGroupsPlaced")


@asynccontextmanager
async def _unchecked(world):
    """LWS checks no sets meanwhile."""
    before = await world.api.get(VALIDATING_WEBHOOKS, LWS_CHECKS)
    await world.api.delete(VALIDATING_WEBHOOKS, LWS_CHECKS)
    try:
        yield
    finally:
        await world.api.create(VALIDATING_WEBHOOKS, {"metadata": {"name": LWS_CHECKS}, "webhooks": before["webhooks"]})


async def test_sizes_that_do_not_divide(watched):
    """No PodGroup, and a condition with the rule and both numbers; with a size that divides all goes on."""
    await watched.nodes(4)
    lws = leader_worker_set(size=5, worker=small_pod(), subGroupPolicy={"subGroupSize": 3})
    async with _unchecked(watched):

        async def accepted():
            try:
                return await watched.create(lws)
            except ApiError as error:
                raise AssertionError(error.message) from error

        await watched.eventually(accepted)
        condition = await condition_is(watched, "demo", "InvalidSubGroup")
        assert "size is 5 and subGroupSize 3" in condition["message"]
        assert await our_groups(watched) == {}
    await watched.change_template("demo", size=4)
    await updated(watched, "demo", 4)
    await condition_is(watched, "demo", "AllGroupsPlaced")
    await settled(watched)


def _without_sub_groups(crd):
    older = copy.deepcopy(crd)
    for version in older["spec"]["versions"]:
        del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["subGroupPolicy"]
    return {**older, "metadata": {"name": crd["metadata"]["name"]}}


async def _install(world, crd):
    now = await world.api.request("GET", CRD)
    body = {**now, "spec": {**now["spec"], "versions": crd["spec"]["versions"]}}
    await world.api.request("PUT", CRD, body)


async def test_an_older_volcano_without_the_field(world, tmp_path):
    """The PodGroup comes without sub-groups, the condition says that Volcano has to be upgraded to have them."""
    await world.nodes(4)
    crd = await world.api.request("GET", CRD)
    await _install(world, _without_sub_groups(crd))
    try:
        async with controller_of(world, tmp_path) as controller:
            await controller.start("--no-leader-elect")
            await world.create(leader_worker_set(size=4, worker=small_pod(), subGroupPolicy={"subGroupSize": 2}))
            await world.running("demo", 4)
            condition = await condition_is(world, "demo", "UnsupportedByVolcano")
            assert "upgrade" in condition["message"]
            (group,) = await groups_are(world, "demo", "0")
            assert "subGroupPolicy" not in group["spec"]
            await controller.stop()
    finally:
        await _install(world, crd)
