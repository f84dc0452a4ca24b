"""As Kueue's topology-aware scheduling does: count whole pods upwards, assign best fit downwards, ranks by name."""

from random import Random

from benchmarks.baselines.fleet import Fleet, Request

__all__ = ["best_fit"]


def best_fit(fleet: Fleet, request: Request, random: Random) -> list[int] | None:  # noqa: ARG001 - one interface
    """The domain with fewest free slots that still fits; in it the largest parts first, the last one best fit."""
    for tier, domains in enumerate(fleet.domains()):
        if request.hard and tier > 1:
            return None
        counted = [(fleet.slots(nodes, request.gpus), index) for index, nodes in enumerate(domains)]
        fitting = [entry for entry in counted if entry[0] >= request.pods]
        if fitting:
            nodes = domains[min(fitting)[1]]
            return sorted(_assign(fleet, nodes, tier, request))
    return None


def _assign(fleet: Fleet, nodes: range, tier: int, request: Request) -> list[int]:
    parts = _parts(fleet, nodes, tier)
    counted = sorted(((fleet.slots(part, request.gpus), -part.start, part) for part in parts), reverse=True)
    left, found = request.pods, []
    while left:
        enough = [entry for entry in counted if entry[0] >= left]
        entry = min(enough) if enough else counted[0]
        counted.remove(entry)
        count = min(entry[0], left)
        part = Request(count, request.gpus)
        found += [entry[2].start] * count if tier <= 1 else _assign(fleet, entry[2], tier - 1, part)
        left -= count
    return found


def _parts(fleet: Fleet, nodes: range, tier: int) -> list[range]:
    if tier <= 1:
        return [range(node, node + 1) for node in nodes]
    size = fleet.rack_size if tier == 2 else fleet.rack_size * 20  # noqa: PLR2004 - spines of 20 racks
    return [range(start, min(start + size, nodes.stop)) for start in range(nodes.start, nodes.stop, size)]
