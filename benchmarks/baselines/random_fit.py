"""Any domain of the lowest tier that fits, any nodes in it, any order."""

from random import Random

from benchmarks.baselines.fleet import Fleet, Request

__all__ = ["random_fit"]


def random_fit(fleet: Fleet, request: Request, random: Random) -> list[int] | None:
    """Random among what fits: what a scheduler without preferences does inside its constraint."""
    for tier, domains in enumerate(fleet.domains()):
        if request.hard and tier > 1:
            return None
        fitting = [nodes for nodes in domains if fleet.slots(nodes, request.gpus) >= request.pods]
        if fitting:
            nodes = random.choice(fitting)
            seats = [node for node in nodes for _ in range(fleet.free[node] // request.gpus)]
            return random.sample(seats, request.pods)
    return None
