"""`lws-volcano plan --from-cluster` on a real API server: what others run there takes room, and nothing is written.

Left out: files on top of what a cluster holds (tests/unit/cli/test_plan_inputs), `status` and `doctor` (test_topology).
"""

import asyncio
import json
import sys

import yaml

from tests.integration.api import PODS
from tests.integration.builders import leader_worker_set, pod_template


def stranger(node):
    """A pod of somebody else, all GPUs of a node."""
    spec = pod_template(limits={"nvidia.com/gpu": "8"}, nodeName=node)["spec"]
    return {"metadata": {"name": f"busy-{node}", "labels": {"app": "busy"}}, "spec": spec}


async def planned(world, path, **lws):
    """Exit code of a plan of one more LeaderWorkerSet, and its group."""
    manifest = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", **leader_worker_set(**lws)}
    manifest["metadata"]["namespace"] = world.namespace
    path.write_text(yaml.safe_dump(manifest))
    argv = [sys.executable, "-m", "lws_volcano", "plan", "--from-cluster", "-f", str(path), "-o", "json"]
    made = await asyncio.create_subprocess_exec(
        *argv, "--kubeconfig", str(world.plane.kubeconfig), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await made.communicate()
    (group,) = [one for one in json.loads(out)["groups"] if one["namespace"] == world.namespace]
    return made.returncode, group


async def test_pods_of_others_take_room(world, tmp_path):
    """Two of four nodes are taken by pods that are no LeaderWorkerSet's: two members fit, three do not."""
    nodes = await world.nodes(4)
    for node in nodes[:2]:
        await world.create(stranger(node), PODS)
    code, group = await planned(world, tmp_path / "two.yaml", size=2)
    assert (code, [pod["node"] for pod in group["pods"]]) == (0, nodes[2:])
    code, group = await planned(world, tmp_path / "three.yaml", size=3)
    assert (code, group["feasible"]) == (1, False)
    assert "nvidia.com/gpu" in group["reason"]
    # Volcano makes its own for the pods of others.
    assert not [name for name in await world.pod_groups() if not name.startswith("podgroup-")]
