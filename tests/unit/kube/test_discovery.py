"""What the installed Volcano can do, read from its definition and the scheduler's configuration.

Covers: fields and plugins there and not there, no permission. Leaves out: definitions of real releases but for the
reference one.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lws_volcano.kube.client import Client
from lws_volcano.kube.discovery import capabilities
from lws_volcano.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS
from lws_volcano.mapping.snapshot import Capabilities
from tests.contract.api_server import ApiServer

CRDS = Path(__file__).parents[4] / "shared" / "crds"


def definition(**properties: Any) -> dict[str, Any]:
    """The PodGroup definition with these fields in its spec."""
    schema = {"properties": {"spec": {"properties": properties}}}
    versions = [{"name": "v1alpha1"}, {"name": "v1beta1", "schema": {"openAPIV3Schema": schema}}]
    return {"metadata": {"name": "podgroups.scheduling.volcano.sh"}, "spec": {"versions": versions}}


async def found(crd: dict[str, Any] | None) -> Capabilities:
    """What is said of this definition."""
    async with ApiServer() as server, Client.at(server.url) as client:
        if crd is not None:
            server.put(CUSTOM_RESOURCE_DEFINITIONS, crd)
        return await capabilities(client)


async def test_an_old_release_has_neither() -> None:
    """Before network topology and sub-groups."""
    assert await found(definition(minMember={})) == Capabilities(network_topology=False, sub_groups=False)


async def test_sub_groups_need_match_label_keys() -> None:
    """An earlier form of the field is not enough."""
    early = definition(networkTopology={}, subGroupPolicy={"items": {"properties": {"name": {}}}})
    assert await found(early) == Capabilities(network_topology=True, sub_groups=False)
    late = definition(networkTopology={}, subGroupPolicy={"items": {"properties": {"matchLabelKeys": {}}}})
    assert await found(late) == Capabilities(network_topology=True, sub_groups=True)


async def test_a_definition_that_cannot_be_read_is_taken_for_a_new_one() -> None:
    """No permission, or none there."""
    assert await found(None) == Capabilities()


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        ("tiers:\n- plugins: [{name: gang}]\n- plugins: [{name: network-topology-aware}]\n", False),
        ("tiers:\n- plugins: [{name: gang}]\n", True),
        ("tiers: 3", True),
        ("tiers: [", False),  # the scheduler goes on with what it had, whatever that was
    ],
)
async def test_a_scheduler_without_the_plugin_ignores_topology(text: str, ignored: bool) -> None:
    """The reason names the ConfigMap and what to add."""
    where = {"namespace": "volcano-system", "name": "volcano-scheduler-configmap"}
    async with ApiServer() as server, Client.at(server.url) as client:
        server.put(CONFIG_MAPS, {"metadata": where, "data": {"volcano-scheduler.conf": text}})
        why = (await capabilities(client, "volcano-system/volcano-scheduler-configmap")).topology_ignored
        assert bool(why) is ignored
        if ignored:
            assert "ConfigMap volcano-system/volcano-scheduler-configmap has no plugin" in why
            assert "add `- name: network-topology-aware`" in why


@pytest.mark.parametrize("named", ["", "volcano-system/other"])
async def test_a_configuration_that_is_not_there_says_nothing(named: str) -> None:
    """Not looked for, or not found."""
    async with ApiServer() as server, Client.at(server.url) as client:
        assert await capabilities(client, named) == Capabilities()


@pytest.mark.skipif(not CRDS.is_dir(), reason="needs ../shared/crds")
async def test_the_reference_release_has_both() -> None:
    """The definition as Volcano ships it."""
    reference = yaml.safe_load((CRDS / "scheduling.volcano.sh_podgroups.yaml").read_text())
    assert await found(reference) == Capabilities(network_topology=True, sub_groups=True)
