"""What sets and people are told of the network topology, on a real API server.

Covers: that the scheduler ignores it, a first install and a restart in which nothing is said or written that must be
taken back, `status` and `doctor`. Left out: the HyperNodes themselves (test_topology).
"""

import asyncio
import json

import pytest

from tests.integration.api import CLUSTER_TOPOLOGIES, CONFIG_MAPS, EVENTS, HYPER_NODES, LEADER_WORKER_SETS, NODES
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import USER
from tests.integration.expectations import condition_is, events_of
from tests.integration.topologies import HARD, becomes, command, names, topology

PLUGINS = "tiers:\n- plugins:\n  - name: gang\n  - name: network-topology-aware\n"


async def test_that_topology_is_ignored_is_said_and_taken_back(world, controller):
    """No HyperNode, then a scheduler without the plugin, then neither: told on the set, without a restart."""
    await world.nodes(4)
    config = {"metadata": {"name": "volcano-scheduler-configmap", "namespace": world.namespace}}
    await world.api.create(CONFIG_MAPS, {**config, "data": {"volcano-scheduler.conf": PLUGINS}})
    await controller.start(
        settings={"rediscover": 0.5, "scheduler_config": f"{world.namespace}/{config['metadata']['name']}"}
    )
    await world.create(leader_worker_set("demo", annotations=HARD))
    await world.running("demo", 2)

    async def said(*words):
        lws = await world.api.find(LEADER_WORKER_SETS, "demo", world.namespace)
        conditions = {one["type"]: one for one in lws["status"].get("conditions", [])}
        condition = conditions.get("lws-volcano.io/GangScheduled", {"message": ""})
        told = "networkTopology" in condition["message"]
        assert told is bool(words), condition
        assert all(word in condition["message"] for word in words), condition
        return True

    await world.eventually(lambda: said("there is no HyperNode", "ClusterTopology"))
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(4)}), "test")
    await world.eventually(said)
    bare = {"volcano-scheduler.conf": PLUGINS.replace("network-topology-aware", "proportion")}
    await world.api.patch(CONFIG_MAPS, config["metadata"]["name"], {"data": bare}, world.namespace)
    await world.eventually(lambda: said("volcano-scheduler-configmap", "add `- name: network-topology-aware`"))

    async def told_twice():
        events = await world.api.list(EVENTS, world.namespace)
        return len([one for one in events if one["reason"] == "TopologyIgnored"]) == 2

    await world.eventually(told_twice)
    quiet = len(world.writes_of(USER))
    await asyncio.sleep(2)
    assert len(world.writes_of(USER)) == quiet
    good = {"volcano-scheduler.conf": PLUGINS}
    await world.api.patch(CONFIG_MAPS, config["metadata"]["name"], {"data": good}, world.namespace)
    await world.eventually(said)


async def test_a_first_install_says_nothing_that_it_takes_back(world, controller):
    """Topology and set are there before the controller: neither its tier is unknown nor its topology ignored."""
    await world.nodes(4)
    for node in names(4):  # a pod that was placed before there was a gang would be another story
        await world.api.patch(NODES, node, {"spec": {"unschedulable": True}})
    await world.create(topology({"r1": names(2), "r2": names(2, 2)}), CLUSTER_TOPOLOGIES)
    asked = {"volcano.sh/network-topology-mode": "hard", "volcano.sh/network-topology-highest-tier": "rack"}
    await world.create(leader_worker_set("near", size=2, annotations=asked))
    await controller.start("--no-leader-elect")
    group = await world.eventually(lambda: first_group(world))
    assert group["spec"]["networkTopology"]["highestTierAllowed"] == 1

    async def told():
        return "PodGroupCreated" in await events_of(world, "near")

    await world.eventually(told)
    await asyncio.sleep(1)
    assert not {"TopologyIgnored", "TierNotFound"} & (await events_of(world, "near")).keys()


@pytest.mark.parametrize("mode", ["soft", "hard"])
async def test_a_restart_waits_for_the_topology(world, controller, mode):
    """What a tier is called means nothing before the topology is known: no write says that there is none."""
    await world.nodes(4)
    await world.create(topology({"rack-0": names(2), "rack-1": names(2, 2)}), CLUSTER_TOPOLOGIES)
    asked = {"volcano.sh/network-topology-mode": mode, "volcano.sh/network-topology-highest-tier": "rack"}
    await controller.start("--no-leader-elect")
    await becomes(world, {"dc.spine": ["dc.rack-0", "dc.rack-1"], "dc.rack-0": names(2), "dc.rack-1": names(2, 2)})
    await world.create(leader_worker_set("near", size=2, annotations=asked))
    await world.running("near", 2)
    await condition_is(world, "near", "AllGroupsPlaced")
    await controller.kill()
    before = len(world.writes_of(USER))
    await controller.start("--no-leader-elect")

    async def looked():
        passes = 'lws_volcano_reconciles_total{area="lws",outcome="ok"}'
        return (await controller.metrics()).get(passes, 0) >= 1

    await world.eventually(looked)
    await asyncio.sleep(2)
    ignored = {"leases", "secrets", "mutatingwebhookconfigurations"}
    assert [write for write in world.writes_of(USER, before) if write.resource not in ignored] == []


async def first_group(world):
    """A PodGroup with a topology."""
    return next((one for one in (await world.pod_groups()).values() if "networkTopology" in one["spec"]), None)


async def test_status_and_doctor_read_the_cluster(world, controller):
    """`status` names the rack of a group; `doctor` finds a HyperNode with two parents and gives exit code 1."""
    await world.nodes(4)
    await controller.start()
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(4)}), "test")
    await becomes(world, {"dc.r1": names(4), "dc.spine": ["dc.r1"]})
    await world.create(leader_worker_set("demo"))
    await world.running("demo", 2)
    shown = json.loads((await command(world, "status", "-n", world.namespace, "-o", "json"))[1])
    assert [(row["domain"], row["tier"]) for row in shown["groups"]] == [("r1", 1)]
    member = {"type": "HyperNode", "selector": {"exactMatch": {"name": "dc.r1"}}}
    await world.api.create(HYPER_NODES, {"metadata": {"name": "other"}, "spec": {"tier": 2, "members": [member]}})
    code, text = await command(world, "doctor")
    assert code == 1
    assert "error: HyperNode dc.r1: has 2 parents, dc.spine, other" in text
