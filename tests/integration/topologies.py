"""Topologies as tests need them, the HyperNodes that come of them, and the command line beside them."""

import asyncio
import sys

from lws_volcano.api.names import NETWORK_TOPOLOGY_SOURCE
from tests.integration.api import HYPER_NODES

__all__ = ["HARD", "becomes", "command", "names", "ours", "topology", "tree"]

HARD = {"volcano.sh/network-topology-mode": "hard", "volcano.sh/network-topology-highest-tier": "1"}
"""Annotations: one rack or wait."""


def topology(racks, name="dc"):
    """Racks (name -> nodes) under one spine."""
    domains = [{"name": "spine", "tier": "spine"}]
    domains += [
        {"name": rack, "tier": "rack", "parent": "spine", "nodes": list(nodes)} for rack, nodes in racks.items()
    ]
    return {
        "apiVersion": "lws-volcano.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": name},
        "spec": {"tiers": [{"name": "rack"}, {"name": "spine"}], "domains": domains},
    }


def names(count, first=0):
    """Names of `World.nodes`."""
    return [f"node-{place:02}" for place in range(first, first + count)]


def tree(hyper_nodes):
    """HyperNode -> members, by name."""
    return {
        one["metadata"]["name"]: sorted(member["selector"]["exactMatch"]["name"] for member in one["spec"]["members"])
        for one in hyper_nodes
    }


async def ours(world):
    """HyperNodes of ours."""
    return await world.api.list(HYPER_NODES, labelSelector=f"{NETWORK_TOPOLOGY_SOURCE}=lws-volcano")


async def becomes(world, wanted):
    """Wait until our HyperNodes hold exactly this."""

    async def look():
        found = tree(await ours(world))
        assert found == {name: sorted(members) for name, members in wanted.items()}, found
        return True

    await world.eventually(look)


async def command(world, *words):
    """Exit code and output of a command of ours."""
    argv = [sys.executable, "-m", "lws_volcano", *words, "--kubeconfig", str(world.plane.kubeconfig)]
    made = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    out, _ = await made.communicate()
    return made.returncode, out.decode()
