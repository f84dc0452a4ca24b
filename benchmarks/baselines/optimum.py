"""The best placement of one group and the best choice of a whole stream, by CP-SAT (the `bench` extra)."""

from collections.abc import Sequence

from ortools.sat.python import cp_model

from benchmarks.baselines.fleet import Fleet, Request

__all__ = ["best_group", "most_pods"]


def best_group(fleet: Fleet, request: Request) -> tuple[int, int, int] | None:
    """Lowest tier, fewest racks, fewest nodes of a group (pods alike: the ring cost follows from them)."""
    for tier, domains in enumerate(fleet.domains()):
        if request.hard and tier > 1:
            return None
        fitting = [nodes for nodes in domains if fleet.slots(nodes, request.gpus) >= request.pods]
        options = [_fewest(fleet, nodes, request) for nodes in fitting]
        if options:
            return (tier, *min(options))
    return None


def _fewest(fleet: Fleet, nodes: range, request: Request) -> tuple[int, int]:
    model = cp_model.CpModel()
    able = [node for node in nodes if fleet.free[node] >= request.gpus]
    pods = {node: model.new_int_var(0, fleet.free[node] // request.gpus, "") for node in able}
    used = {node: model.new_bool_var("") for node in able}
    racks = {rack: model.new_bool_var("") for rack in {fleet.rack(node) for node in able}}
    model.add(sum(pods.values()) == request.pods)
    for node in able:
        model.add(pods[node] <= request.pods * used[node])
        model.add_implication(used[node], racks[fleet.rack(node)])
    model.minimize(1000 * sum(racks.values()) + sum(used.values()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.solve(model) != cp_model.OPTIMAL:
        raise RuntimeError("no optimum found for a group that fits")
    return divmod(round(solver.objective_value), 1000)


def most_pods(fleet: Fleet, stream: Sequence[Request], seconds: float) -> tuple[int, int]:
    """GPUs of the best subset of a stream of hard groups of whole nodes (found, proven bound)."""
    model = cp_model.CpModel()
    where = {(index, rack): model.new_bool_var("") for index in range(len(stream)) for rack in range(fleet.racks)}
    for index in range(len(stream)):
        model.add_at_most_one(where[index, rack] for rack in range(fleet.racks))
    for rack in range(fleet.racks):
        taken = sum(one.pods * where[index, rack] for index, one in enumerate(stream))
        model.add(taken <= len(fleet.members(rack)))
    model.maximize(sum(stream[index].pods * chosen for (index, _), chosen in where.items()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    solver.solve(model)
    return round(solver.objective_value), round(solver.best_objective_bound)
