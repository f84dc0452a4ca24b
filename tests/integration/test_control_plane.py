"""The local control plane itself: it starts, survives faults on demand, and leaves nothing behind.

Covers: readiness, our CRDs as served, nodes, users with few rights, the audit log, restarts of the API server, and the
end of every child when the parent is killed.
Leaves out: building the programs (`tests/deploy/test_binaries.py`) and the stand-ins (`test_stand_ins.py`).
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import aiohttp
import pytest

from deploy.local.api import Api
from deploy.local.control_plane import ControlPlane
from deploy.local.errors import ApiError
from deploy.local.kubeconfig import Access
from deploy.local.nodes import create_nodes, rack_nodes
from deploy.local.resources import NAMESPACES, NODES, POD_GROUPS, PODS, QUEUES

ROOT = Path(__file__).parents[2]


async def test_nodes_become_ready(api: Api) -> None:
    """KWOK makes them Ready, with the room and labels they were given, and the not-ready taint goes."""
    names = await create_nodes(api, rack_nodes(5, prefix="plane"))
    node = await api.get(NODES, "plane-04")
    assert names == [f"plane-0{place}" for place in range(5)]
    assert node["metadata"]["labels"]["example.com/rack"] == "rack-1"
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    for name in names:
        await api.delete(NODES, name)


async def test_a_node_stays_not_ready_once_it_is_set_so(api: Api) -> None:
    """Tests take a node away by its status; the node controller then taints it."""
    await create_nodes(api, rack_nodes(1, prefix="sick"))
    condition = {"type": "Ready", "status": "False", "reason": "Test", "message": "", "lastHeartbeatTime": None}
    await api.patch(NODES, "sick-00", {"status": {"conditions": [condition]}}, sub="status")
    async with asyncio.timeout(30):
        while not (await api.get(NODES, "sick-00"))["spec"].get("taints"):
            await asyncio.sleep(0.1)
    node = await api.get(NODES, "sick-00")
    assert [c["status"] for c in node["status"]["conditions"] if c["type"] == "Ready"] == ["False"]
    await api.delete(NODES, "sick-00")


async def test_a_node_that_comes_anew_under_its_old_name_runs_pods_at_once(api: Api, namespace: str) -> None:
    """Every test makes `node-00`; a simulated kubelet with leases would pass its pods over until the next renewal."""
    containers = [{"name": "main", "image": "example.com/serve:1"}]
    for turn in range(4):
        (node,) = await create_nodes(api, rack_nodes(1, prefix="again"))
        name = f"pod-{turn}"
        await api.create(
            PODS,
            {"metadata": {"name": name, "namespace": namespace}, "spec": {"nodeName": node, "containers": containers}},
        )
        async with asyncio.timeout(8):
            while (await api.get(PODS, name, namespace))["status"]["phase"] != "Running":
                await asyncio.sleep(0.05)
        await api.delete(PODS, name, namespace, gracePeriodSeconds=0)
        await api.delete(NODES, node)


async def test_a_pod_group_has_no_status_sub_resource(api: Api, namespace: str) -> None:
    """Like the real kind: status is part of the object, and a replacement without it wipes it."""
    body = {"metadata": {"name": "pg", "namespace": namespace}, "spec": {"minMember": 1}, "status": {"running": 1}}
    made = await api.create(POD_GROUPS, body)
    assert (made["spec"]["queue"], made["status"]) == ("default", {"running": 1})
    with pytest.raises(ApiError, match="404"):
        await api.patch(POD_GROUPS, "pg", {"status": {"running": 2}}, namespace, sub="status")


async def test_enums_and_ranges_are_checked_by_the_api_server(api: Api) -> None:
    """Bad values of kinds that are not ours are refused here as they are by the real CRDs."""
    body = {"metadata": {"name": "bad"}, "spec": {"weight": -1}}
    with pytest.raises(ApiError, match=r"spec\.weight"):
        await api.create(QUEUES, body)


async def test_a_user_can_do_what_its_rules_say_and_no_more(control_plane: ControlPlane) -> None:
    """Rules of a ClusterRole, replaced by a second call."""
    reading = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    config = await control_plane.kubeconfig_for("reader", [reading])
    async with Api.from_kubeconfig(config) as reader:
        assert await _once_allowed(reader) == []
        with pytest.raises(ApiError, match="403"):
            await reader.list(NODES)
        await control_plane.kubeconfig_for("reader", [])
        async with asyncio.timeout(10):
            while await _allowed(reader):
                await asyncio.sleep(0.05)


async def test_writes_are_counted_by_user(control_plane: ControlPlane, api: Api) -> None:
    """The audit log has verb, resource, name and answer of writes, and nothing of reads."""
    async with Api.from_kubeconfig(control_plane.kubeconfig_as("writer"), "agent-7") as writer:
        await writer.list(PODS)
        await writer.create(NAMESPACES, {"metadata": {"name": "counted"}})
        with pytest.raises(ApiError):
            await writer.create(NAMESPACES, {"metadata": {"name": "counted"}})
    await api.delete(NAMESPACES, "counted")
    async with asyncio.timeout(10):
        while len(writes := [one for one in control_plane.writes() if one.user == "writer"]) < 2:
            await asyncio.sleep(0.05)
    assert [(one.verb, one.resource, one.code, one.agent) for one in writes] == [
        ("create", "namespaces", 201, "agent-7"),
        ("create", "namespaces", 409, "agent-7"),
    ]


async def test_the_api_server_comes_back_where_it_was(control_plane: ControlPlane, api: Api, namespace: str) -> None:
    """Stopped and started again on the same port with the same data."""
    control_plane.stop_component("kube-apiserver", kill=True)
    with pytest.raises(aiohttp.ClientError):
        await api.list(NAMESPACES)
    await control_plane.start_component("kube-apiserver")
    assert await api.find(NAMESPACES, namespace)


async def test_nothing_outlives_a_killed_parent() -> None:
    """SIGKILL to whoever started it: every process and every file of the control plane is gone soon."""
    program = (
        "import asyncio\n"
        "from deploy.local.control_plane import ControlPlane\n"
        "async def main():\n"
        "    async with ControlPlane() as plane:\n"
        "        pids = [child.pid for child in plane.supervisor.children.values()]\n"
        "        print(plane.kubeconfig, *pids, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert parent.stdout is not None
        kubeconfig, *pids = (await parent.stdout.readline()).decode().split()
        assert len(pids) == 4
        assert Access.read(Path(kubeconfig)).server.startswith("https://127.0.0.1:")
    finally:
        parent.send_signal(signal.SIGKILL)
        await parent.wait()
    async with asyncio.timeout(20):
        while any(_alive(int(pid)) for pid in pids) or Path(kubeconfig).parent.exists():
            await asyncio.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


async def _once_allowed(reader: Api) -> list[object]:
    """Authorisation follows a new role within a moment."""
    async with asyncio.timeout(10):
        while not await _allowed(reader):
            await asyncio.sleep(0.05)
    return list(await reader.list(PODS, "kube-system"))


async def _allowed(reader: Api) -> bool:
    try:
        await reader.list(PODS, "kube-system")
    except ApiError as error:
        if error.status == 403:
            return False
        raise
    return True
