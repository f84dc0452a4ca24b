"""The planner on the plain fleet of the baselines."""

from random import Random

from benchmarks.baselines.fleet import GPUS, RACKS_PER_SPINE, Fleet, Request
from lws_volcano.api.cluster import Node
from lws_volcano.api.pods import Pod, PodTemplate
from lws_volcano.placement.capacity import Capacity
from lws_volcano.placement.demand import Demand, Rules
from lws_volcano.placement.planner import plan_group
from lws_volcano.placement.shape import Shape, template_shape
from lws_volcano.topology.build import build
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import ClusterTopology

__all__ = ["Planner", "demand", "pod_on", "shape", "topology"]

GPU = "example.com/gpu"


def topology(fleet: Fleet) -> Topology:
    """Racks and spines of a fleet, under one core."""
    domains: list[dict[str, object]] = [{"name": "core", "tier": "core"}]
    domains += [{"name": f"s{s:03d}", "tier": "spine", "parent": "core"} for s in range(fleet.spines)]
    for rack in range(fleet.racks):
        nodes = [f"n{node:05d}" for node in fleet.members(rack)]
        parent = f"s{rack // RACKS_PER_SPINE:03d}"
        domains.append({"name": f"r{rack:04d}", "tier": "rack", "parent": parent, "nodes": nodes})
    tiers = [{"name": "rack", "bandwidth": "100GB/s"}, {"name": "spine", "bandwidth": "50GB/s"}]
    spec = {"tiers": [*tiers, {"name": "core", "bandwidth": "50GB/s"}], "domains": domains}
    document = {"apiVersion": "lws-volcano.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "bench"}}
    return build(ClusterTopology.model_validate({**document, "spec": spec}))


def shape(gpus: int) -> Shape:
    """Shape of a pod with so many GPUs."""
    container = {"name": "c", "resources": {"requests": {GPU: gpus}}}
    return template_shape(PodTemplate.model_validate({"spec": {"containers": [container]}}))


def demand(request: Request, name: str = "g") -> Demand:
    """A group as the planner is asked for it."""
    rules = Rules(mode="hard", highest_tier=1) if request.hard else Rules(mode="soft")
    one = shape(request.gpus)
    return Demand(key=f"bench/{name}", size=request.pods, leader=one, worker=one, rules=rules)


def pod_on(node: str, gpus: int, uid: str) -> Pod:
    """A bound pod."""
    container = {"name": "c", "resources": {"requests": {GPU: gpus}}}
    spec = {"nodeName": node, "containers": [container]}
    return Pod.parse({"metadata": {"name": uid, "namespace": "bench", "uid": uid}, "spec": spec})


class Planner:
    """Follows one fleet: what others took on it is seen before each group."""

    def __init__(self, fleet: Fleet) -> None:
        self.topology = topology(fleet)
        self.capacity = Capacity(self.topology)
        self.known = [GPUS] * fleet.nodes
        self._count = 0
        for node in range(fleet.nodes):
            status = {"allocatable": {GPU: GPUS, "pods": 110}}
            self.capacity.upsert_node(Node.parse({"metadata": {"name": f"n{node:05d}"}, "status": status}))

    def follow(self, fleet: Fleet) -> None:
        """Bind pods for what was taken since."""
        for node, (before, now) in enumerate(zip(self.known, fleet.free, strict=True)):
            if now < before:
                self._count += 1
                self.capacity.bind(pod_on(f"n{node:05d}", before - now, f"uid-{self._count}"))
        self.known = list(fleet.free)

    def __call__(self, fleet: Fleet, request: Request, random: Random) -> list[int] | None:  # noqa: ARG002
        """As the baselines."""
        self.follow(fleet)
        plan = plan_group(demand(request), self.capacity, alternatives=1)
        return [int(pod.node[1:]) for pod in plan.pods] if plan.feasible else None
