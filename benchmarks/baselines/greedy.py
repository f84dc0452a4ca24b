"""As Volcano with its default plugins does: lowest tier that fits, the fullest domain of it, ranks in no order."""

from random import Random

from benchmarks.baselines.fleet import Fleet, Request

__all__ = ["greedy"]


def greedy(fleet: Fleet, request: Request, random: Random) -> list[int] | None:
    """Fullest domain by GPUs in use, then bin-packing node by node, ranks as they come."""
    for tier, domains in enumerate(fleet.domains()):
        if request.hard and tier > 1:
            return None
        fitting = [nodes for nodes in domains if fleet.slots(nodes, request.gpus) >= request.pods]
        if fitting:
            fullest = min(fitting, key=lambda nodes: (_free_share(fleet, nodes), random.random()))
            return _pack(fleet, fullest, request, random)
    return None


def _free_share(fleet: Fleet, nodes: range) -> float:
    return sum(fleet.free[node] for node in nodes) / len(nodes)


def _pack(fleet: Fleet, nodes: range, request: Request, random: Random) -> list[int]:
    able = [node for node in nodes if fleet.free[node] >= request.gpus]
    able.sort(key=lambda node: (fleet.free[node], random.random()))
    seats = [node for node in able for _ in range(fleet.free[node] // request.gpus)]
    return seats[: request.pods]
