"""ClusterTopologies become HyperNodes on a real API server.

Covers: HyperNodes written, moved, deleted and the tree at every moment, those of others, status, mounted files that
turn bad, no write without a change, thousands of nodes. Left out: what sets and people are told (test_topology_told),
hints on pods (test_hints), the order of writes in every case (tests/unit/topology).
"""

import asyncio
import itertools
import time

import pytest
import yaml

from lws_volcano.api.names import NETWORK_TOPOLOGY_SOURCE, PLAN
from tests.integration.api import (
    CLUSTER_TOPOLOGIES,
    EVENTS,
    HYPER_NODES,
    NODES,
)
from tests.integration.builders import leader_worker_set
from tests.integration.controllers import USER
from tests.integration.topologies import HARD, becomes, names, ours, topology, tree

OURS = {NETWORK_TOPOLOGY_SOURCE: "lws-volcano"}


async def status_of(world, name, **wanted):
    """Wait until the condition of a ClusterTopology is so; gives its status."""

    async def look():
        status = (await world.api.find(CLUSTER_TOPOLOGIES, name) or {}).get("status") or {}
        (condition,) = status.get("conditions") or [{}]
        assert {key: condition.get(key) for key in wanted} == wanted, status
        return status

    return await world.eventually(look)


def broken_trees(events):
    """Every moment at which a node or HyperNode had two parents, or a HyperNode a child that is not there."""
    state, found = {}, []
    for event in events:
        if event.type == "DELETED":
            state.pop(event.name, None)
        else:
            state[event.name] = event.object
        mine = [one for one in state.values() if OURS.items() <= (one["metadata"].get("labels") or {}).items()]
        members = [member for held in tree(mine).values() for member in held if "invalid" not in member]
        twice = {member for member in members if members.count(member) > 1}
        lost = {m for m in members if m.startswith("dc.") and m not in state}
        if twice or lost:
            found.append((event.name, event.type, sorted(twice), sorted(lost)))
    return found


def hyper_node_writes(world, since=0):
    """Writes of the controller to HyperNodes and ClusterTopologies."""
    kinds = {"hypernodes", "clustertopologies"}
    return [write for write in world.writes_of(USER) if write.resource in kinds][since:]


async def test_written_moved_and_deleted(world, controller):
    """Each step ends in the tree asked for, by the fewest writes, and there is a strict tree at every moment."""
    await world.nodes(8)
    await controller.start()
    async with world.recorder([HYPER_NODES]) as recorder:
        await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(4), "r2": names(4, 4)}), "test")
        await becomes(world, {"dc.r1": names(4), "dc.r2": names(4, 4), "dc.spine": ["dc.r1", "dc.r2"]})
        status = await status_of(world, "dc", status="True", reason="TopologyReady")
        assert (status["nodes"], status["domains"], status["tiers"]) == (8, 3, 2)

        before = len(hyper_node_writes(world))
        await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(3), "r2": names(5, 3)}), "test")
        await becomes(world, {"dc.r1": names(3), "dc.r2": names(5, 3), "dc.spine": ["dc.r1", "dc.r2"]})
        moved = [write for write in hyper_node_writes(world, before) if write.resource == "hypernodes"]
        assert len(moved) == 2, moved

        swapped = {"r1": names(5, 3), "r2": names(2), "r3": names(1, 2)}
        await world.api.apply(CLUSTER_TOPOLOGIES, topology(swapped), "test")
        await becomes(world, {**{f"dc.{rack}": nodes for rack, nodes in swapped.items()},
                              "dc.spine": ["dc.r1", "dc.r2", "dc.r3"]})  # fmt: skip

        await world.api.delete(NODES, "node-07")
        await becomes(world, {"dc.r1": names(4, 3), "dc.r2": names(2), "dc.r3": names(1, 2),
                              "dc.spine": ["dc.r1", "dc.r2", "dc.r3"]})  # fmt: skip

        await world.api.delete(CLUSTER_TOPOLOGIES, "dc")
        await becomes(world, {})
    assert broken_trees(recorder.events) == []


async def test_those_of_others_are_left_alone_and_reported(world, controller):
    """A stranger's HyperNode survives, also under a name that we would take; the overlap stands in the status."""
    await world.nodes(4)
    stranger = {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": "dc.r1", "labels": {NETWORK_TOPOLOGY_SOURCE: "label"}},
        "spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "node-00"}}}]},
    }
    before = await world.api.create(HYPER_NODES, stranger)
    writes = len(hyper_node_writes(world))
    await controller.start()
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(2), "r2": names(2, 2)}), "test")

    async def three():
        return len(await ours(world)) == 3

    await world.eventually(three)
    status = await status_of(world, "dc", status="True")
    assert any("HyperNode dc.r1" in warning for warning in status["warnings"]), status
    await world.api.delete(CLUSTER_TOPOLOGIES, "dc")
    await becomes(world, {})
    after = await world.api.find(HYPER_NODES, "dc.r1")
    assert after["spec"] == before["spec"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert not [write for write in hyper_node_writes(world, writes) if write.name == "dc.r1"]


async def test_a_hyper_node_of_ours_in_one_of_theirs_is_told(world, controller):
    """It has two parents, and Volcano lets no group with a topology start: condition, Event, and taken back."""
    await world.nodes(4)
    await controller.start()
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(2), "r2": names(2, 2)}), "test")
    await status_of(world, "dc", status="True", reason="TopologyReady")
    await becomes(world, {"dc.r1": names(2), "dc.r2": names(2, 2), "dc.spine": ["dc.r1", "dc.r2"]})
    held = [{"type": "HyperNode", "selector": {"regexMatch": {"pattern": "^dc[.]r1$"}}}]
    await world.api.create(HYPER_NODES, {"metadata": {"name": "zone"}, "spec": {"tier": 2, "members": held}})
    status = await status_of(world, "dc", status="False", reason="HyperNodeTwoParents")
    assert "HyperNode dc.r1: has 2 parents, dc.spine, zone" in status["conditions"][0]["message"]

    async def told():
        events = [one for one in await world.api.list(EVENTS, "default") if one["involvedObject"]["name"] == "dc"]
        return "HyperNodeTwoParents" in {one["reason"] for one in events}

    await world.eventually(told)
    await world.api.delete(HYPER_NODES, "zone")
    await status_of(world, "dc", status="True", reason="TopologyReady")


async def test_a_bad_topology_leaves_the_last_good_one(world, controller):
    """Two parents are refused with a reason, in status and Event; HyperNodes stay, also through a restart."""
    await world.nodes(4)
    await controller.start()
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(2), "r2": names(2, 2)}), "test")
    good = {"dc.r1": names(2), "dc.r2": names(2, 2), "dc.spine": ["dc.r1", "dc.r2"]}
    await becomes(world, good)
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(3), "r2": names(2, 2)}), "test")
    status = await status_of(world, "dc", status="False", reason="TopologyInvalid")
    assert "node-02" in status["conditions"][0]["message"]
    assert "stays in use" in status["conditions"][0]["message"]
    await becomes(world, good)

    async def told():
        events = [one for one in await world.api.list(EVENTS, "default") if one["involvedObject"]["name"] == "dc"]
        return "TopologyInvalid" in {one["reason"] for one in events}

    await world.eventually(told)
    await controller.kill()
    await controller.start()
    await status_of(world, "dc", status="False", reason="TopologyInvalid")
    await becomes(world, good)


async def test_a_mounted_file_is_reloaded(world, controller, tmp_path):
    """A directory as a ConfigMap mounts it: changed, emptied (the last good one stays), filled again, taken away."""
    await world.nodes(4)
    folder = tmp_path / "topologies"
    folder.mkdir()
    file = folder / "dc.yaml"
    file.write_text(yaml.safe_dump(topology({"r1": names(2), "r2": names(2, 2)})))
    await controller.start("--topology", str(folder))
    good = {"dc.r1": names(2), "dc.r2": names(2, 2), "dc.spine": ["dc.r1", "dc.r2"]}
    await becomes(world, good)

    file.write_text("\n")

    async def refused():
        return (await controller.metrics()).get('lws_volcano_topology_ready{topology="dc"}') == 0.0

    await world.eventually(refused)
    await becomes(world, good)
    assert any("is empty" in line for line in controller.log())

    file.write_text(yaml.safe_dump(topology({"r1": names(4)})))
    await becomes(world, {"dc.r1": names(4), "dc.spine": ["dc.r1"]})
    file.unlink()
    await becomes(world, {})


async def test_a_mounted_config_map_is_reloaded(world, controller, tmp_path):
    """As the kubelet changes one: a new hidden directory and a link that is swapped; the files are links too."""
    await world.nodes(4)
    folder = tmp_path / "topologies"
    folder.mkdir()

    def bring(racks, turn):
        (folder / f"..turn-{turn}").mkdir()
        (folder / f"..turn-{turn}" / "dc.yaml").write_text(yaml.safe_dump(topology(racks)))
        (folder / "..data-next").symlink_to(f"..turn-{turn}")
        (folder / "..data-next").rename(folder / "..data")

    bring({"r1": names(2), "r2": names(2, 2)}, 1)
    (folder / "dc.yaml").symlink_to("..data/dc.yaml")
    await controller.start("--topology", str(folder))
    await becomes(world, {"dc.r1": names(2), "dc.r2": names(2, 2), "dc.spine": ["dc.r1", "dc.r2"]})
    bring({"r1": names(4)}, 2)
    await becomes(world, {"dc.r1": names(4), "dc.spine": ["dc.r1"]})


async def test_a_file_that_is_broken_at_the_start_leaves_what_was_made_of_it(world, controller, tmp_path):
    """The last good topology is not known after a restart: nothing is deleted, no set is touched, it is said."""
    await world.nodes(4)
    file = tmp_path / "dc.yaml"
    file.write_text(yaml.safe_dump(topology({"r1": names(2), "r2": names(2, 2)})))
    await controller.start("--topology", str(file))
    good = {"dc.r1": names(2), "dc.r2": names(2, 2), "dc.spine": ["dc.r1", "dc.r2"]}
    await becomes(world, good)
    await world.create(leader_worker_set("demo", annotations=HARD))
    await world.running("demo", 2)
    before, writes = await world.pod_groups(), len(world.writes_of(USER))
    await controller.kill()
    file.write_text("tiers: [")
    await controller.start("--topology", str(file), settings={"resync": 0.3})
    passes = 'lws_volcano_reconciles_total{area="lws",outcome="ok"}'

    async def several_passes():
        return (await controller.metrics()).get(passes, 0) >= 5

    await world.eventually(several_passes)
    assert (await controller.metrics())['lws_volcano_topology_ready{topology="dc"}'] == 0.0
    assert any("is not YAML" in line for line in controller.log())
    await becomes(world, good)
    after = await world.pod_groups()
    assert {name: group["spec"] for name, group in after.items()} == {n: group["spec"] for n, group in before.items()}
    kept = {"hypernodes", "podgroups"}
    assert [write for write in world.writes_of(USER)[writes:] if write.resource in kept] == []


async def test_hyper_nodes_of_others_are_read_instead_of_written(world, controller):
    """With `hyper_nodes: read` none is written, theirs are the topology, and a change of theirs is followed."""
    await world.nodes(4)

    def theirs(name, tier, kind, members):
        held = [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members]
        return {"metadata": {"name": name}, "spec": {"tier": tier, "members": held}}

    writes = len(hyper_node_writes(world))
    await controller.start(settings={"hyper_nodes": "read"})
    for body in (
        theirs("leaf-a", 1, "Node", names(2)),
        theirs("leaf-b", 1, "Node", names(2, 2)),
        theirs("top", 2, "HyperNode", ["leaf-a", "leaf-b"]),
    ):
        await world.api.create(HYPER_NODES, body)

    async def known(nodes):
        metrics = await controller.metrics()
        return metrics.get('lws_volcano_topology_nodes{topology="hypernodes"}') == nodes

    await world.eventually(lambda: known(4))
    before = {one["metadata"]["name"]: one["metadata"]["uid"] for one in await world.api.list(HYPER_NODES)}
    await world.create(leader_worker_set("demo", annotations=HARD))
    pods = await world.running("demo", 2)
    plans = [pod["metadata"]["annotations"].get(PLAN) for pod in pods if pod["metadata"]["name"] == "demo-0"]
    assert plans[0] is not None, "the leader carries no plan"
    assert {pod["spec"]["nodeName"] for pod in pods} in ({*names(2)}, {*names(2, 2)})
    # Overlap with a ClusterTopology of ours: it is in use, and still nothing is written.
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(4)}), "test")
    await status_of(world, "dc", status="True", reason="TopologyReady")
    await world.api.delete(CLUSTER_TOPOLOGIES, "dc")
    await world.api.delete(HYPER_NODES, "top")
    await world.api.delete(HYPER_NODES, "leaf-b")
    await world.eventually(lambda: known(2))
    assert {one["metadata"]["name"]: one["metadata"]["uid"] for one in await world.api.list(HYPER_NODES)} == {
        "leaf-a": before["leaf-a"]
    }
    assert not [write for write in hyper_node_writes(world, writes) if write.resource == "hypernodes"]


async def test_no_write_without_a_change(world, controller):
    """Passes over an unchanged topology, and heartbeats of its nodes, reach the API server with no write."""
    await world.nodes(4)
    await controller.start(settings={"resync": 0.3})
    await world.api.apply(CLUSTER_TOPOLOGIES, topology({"r1": names(4)}), "test")
    await becomes(world, {"dc.r1": names(4), "dc.spine": ["dc.r1"]})
    await status_of(world, "dc", status="True")
    passes = 'lws_volcano_reconciles_total{area="topology",outcome="ok"}'
    seen, writes = (await controller.metrics())[passes], len(hyper_node_writes(world))
    for turn in range(5):
        await world.api.patch(NODES, "node-00", {"metadata": {"annotations": {"turn": str(turn)}}})
        await asyncio.sleep(0.1)

    async def ten_more():
        return (await controller.metrics())[passes] >= seen + 10

    await world.eventually(ten_more)
    assert hyper_node_writes(world, writes) == []


async def in_batches(requests):
    """Await many requests, a hundred at a time."""
    for batch in iter(lambda: list(itertools.islice(requests, 100)), []):
        await asyncio.gather(*batch)


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_five_thousand_nodes_in_fifty_racks(world, controller):
    """All are written, whole; one node that moves costs two writes. How long the first takes is printed."""
    racks = {f"r{rack}": [f"n-{rack * 100 + place:04}" for place in range(100)] for rack in range(50)}
    every = [node for nodes in racks.values() for node in nodes]
    # Nothing runs on these nodes, and a simulated kubelet would write each of them once more.
    await asyncio.to_thread(world.plane.stop_component, "kwok")
    await in_batches(world.api.create(NODES, {"metadata": {"name": node}}) for node in every)
    try:
        await controller.start()
        started = time.monotonic()
        await world.api.apply(CLUSTER_TOPOLOGIES, topology(racks), "test")

        async def all_there():
            return len(await ours(world)) == 51

        await world.eventually(all_there, 120)
        print(f"51 HyperNodes for 5,000 nodes after {time.monotonic() - started:.1f} s")  # noqa: T201 - the figure
        await status_of(world, "dc", status="True")
        before = len(hyper_node_writes(world))
        racks["r1"].append(racks["r0"].pop())
        await world.api.apply(CLUSTER_TOPOLOGIES, topology(racks), "test")

        async def moved():
            found = tree(await ours(world))
            return len(found["dc.r1"]) == 101 and len(found["dc.r0"]) == 99

        await world.eventually(moved)
        assert len([one for one in hyper_node_writes(world, before) if one.resource == "hypernodes"]) == 2
    finally:
        # One by one: a collection of so many takes the API server longer than a request may.
        await in_batches(world.api.delete(NODES, node) for node in every)
        await world.plane.start_component("kwok")
