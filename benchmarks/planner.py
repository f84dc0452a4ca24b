"""Quality, fill and speed of the planner: `python -m benchmarks.planner [quality|fill|speed] [--quick]`.

Prints tables in Markdown; `benchmarks/planner.md` records a run. The optimum comes from CP-SAT (the `bench` extra) at
32 nodes; in larger fleets the planner's own exact result, which equals it there, is the reference.
"""

import argparse
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from random import Random
from statistics import mean

from benchmarks.baselines.best_fit import best_fit
from benchmarks.baselines.fleet import GPUS, Fleet, Placer, Request
from benchmarks.baselines.greedy import greedy
from benchmarks.baselines.optimum import best_group, most_pods
from benchmarks.baselines.random_fit import random_fit
from benchmarks.planner_fleet import Planner, demand, pod_on
from lws_volcano.placement.hints import leader_hints
from lws_volcano.placement.landing import wanted_alternatives
from lws_volcano.placement.planner import plan_group, plan_groups

BASELINES: dict[str, Placer] = {"random": random_fit, "greedy": greedy, "best fit": best_fit}
SIZES = (2, 3, 4, 6, 8, 12, 16)
SMALL, LARGE = 32, 5000
"""Nodes of the fleet that CP-SAT solves (racks of 4; 16 else), and from where fewer streams do."""


def fleet_of(nodes: int) -> Fleet:
    """An empty fleet."""
    return Fleet(nodes, rack_size=4 if nodes <= SMALL else 16)


def seeded(seed: float | str) -> Random:
    """The same sequence in every run."""
    return Random(seed)  # noqa: S311 - not for secrets


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row) + " |")
    print()


def quality(quick: bool) -> None:
    """Tier, racks and ring cost of single groups, against the optimum."""
    print("### Quality: single groups on a fleet that is partly taken at random\n")
    rows: list[list[object]] = []
    for nodes in (32, 640) if quick else (32, 640, 1000, 5000):
        for occupancy in (0.0, 0.3, 0.6, 0.85):
            rows += _quality_rows(nodes, occupancy, 3 if quick else 10)
    table(("nodes", "taken", "planner", "groups", "at the best tier", "racks over best", "ring cost over best"), rows)


def _quality_rows(nodes: int, occupancy: float, rounds: int) -> list[list[object]]:
    outcomes: dict[str, list[tuple[int, int, float]]] = {}
    random = seeded(f"{nodes}-{occupancy}")
    fleet = fleet_of(nodes)
    planner = Planner(fleet)
    fleet.occupy(occupancy, random)
    for _ in range(rounds):
        for pods, gpus in ((4, 8), (8, 8), (8, 4), (6, 2), (6, 8), (20, 8)):
            request = Request(pods, gpus)
            for name, place in {**BASELINES, "this planner": planner}.items():
                found = place(fleet, request, random)
                if found is not None:
                    racks = len({fleet.rack(node) for node in found})
                    outcomes.setdefault(name, []).append((fleet.tier(found), racks, fleet.ring(found)))
            if nodes <= SMALL and (best := best_group(fleet, request)) is not None:
                tier, racks, used = best
                ring = (used > 1) * used / 100 + (racks > 1) * racks * (1 / 50 - 1 / 100)
                outcomes.setdefault("optimum", []).append((tier, racks, ring))
    best_known = outcomes.get("optimum", outcomes.get("this planner", []))
    return [
        [nodes, f"{occupancy:.0%}", name, len(all_), *_against(all_, best_known)] for name, all_ in outcomes.items()
    ]


def _against(outcomes: list[tuple[int, int, float]], best: list[tuple[int, int, float]]) -> list[object]:
    tiers = mean(float(one[0] == other[0]) for one, other in zip(outcomes, best, strict=True))
    racks = sum(one[1] for one in outcomes) / sum(one[1] for one in best)
    rings = sum(other[2] for other in best)
    return [f"{tiers:.0%}", f"{racks:.2f}", f"{sum(one[2] for one in outcomes) / rings:.2f}" if rings else "-"]


def fill(quick: bool) -> None:
    """GPUs in use when a stream of hard groups has passed, as a share of what could be."""
    print("### Fill: a stream of groups, each within one rack, until as many GPUs were asked for as there are\n")
    fleets = (32, 640) if quick else (32, 640, 1000, 5000)
    streams = {nodes: 3 if quick else 20 if nodes < LARGE else 5 for nodes in fleets}
    rows = [_fill_row(nodes, count, mixed=mixed) for nodes, count in streams.items() for mixed in (False, True)]
    table(("nodes", "pods", *BASELINES, "this planner", "optimum"), rows)


def _fill_row(nodes: int, streams: int, *, mixed: bool) -> list[object]:
    shares: dict[str, list[float]] = {}
    for seed in range(streams):
        stream = _stream(nodes, seeded(seed), mixed=mixed)
        asked = min(sum(one.pods * one.gpus for one in stream), nodes * GPUS)
        for name in (*BASELINES, "this planner"):
            fleet = fleet_of(nodes)
            place = BASELINES.get(name) or Planner(fleet)
            shares.setdefault(name, []).append(_filled(fleet, place, stream) / asked)
        if nodes <= SMALL and not mixed:
            shares.setdefault("optimum", []).append(most_pods(fleet_of(nodes), stream, 5)[0] * GPUS / asked)
    cells = [f"{mean(shares[name]):.2%}" if name in shares else "-" for name in (*BASELINES, "this planner", "optimum")]
    return [nodes, "1 to 8 GPUs" if mixed else "whole nodes", *cells]


def _stream(nodes: int, random: Random, *, mixed: bool) -> list[Request]:
    stream: list[Request] = []
    asked = 0
    while asked < nodes * GPUS:
        gpus = random.choice((1, 2, 4, 8, 8, 8)) if mixed else GPUS
        sizes = SIZES[:3] if nodes <= SMALL else SIZES
        stream.append(Request(random.choice(sizes), gpus, hard=True))
        asked += stream[-1].pods * gpus
    return stream


def _filled(fleet: Fleet, place: Placer, stream: list[Request]) -> int:
    random = seeded(1)
    for request in stream:
        found = place(fleet, request, random)
        if found is not None:
            fleet.take(found, request.gpus)
    return fleet.nodes * GPUS - sum(fleet.free)


def speed(quick: bool) -> None:
    """Milliseconds of one call, and of one pod change."""
    print("### Speed: median and 99th percentile, ms of CPU\n")
    rows: list[list[object]] = []
    for nodes in (640, 5000) if quick else (32, 640, 1000, 5000, 20000):
        rows += _speed_rows(nodes, 200 if quick else 1000)
    table(("nodes", "what", "median", "99 %"), rows)


def _speed_rows(nodes: int, rounds: int) -> list[list[object]]:
    fleet = fleet_of(nodes)
    planner = Planner(fleet)
    fleet.occupy(0.6, seeded(1))
    planner.follow(fleet)
    capacity = planner.capacity
    eight = demand(Request(8, 8, hard=True))
    forty = demand(Request(40, 8))
    hundred = [demand(Request(8, 8), f"g{index}") for index in range(100)]
    pod = pod_on("n00001", 1, "uid-x")

    def change() -> None:
        capacity.bind(pod)
        capacity.tally(eight.leader, eight.worker)
        capacity.unbind("uid-x")

    def admit() -> None:
        """What the webhook does for a leader."""
        plan = plan_group(eight, capacity, alternatives=wanted_alternatives(eight))
        capacity.reserve(eight, plan.nodes)
        leader_hints(plan, capacity)
        capacity.release(eight.key)

    def admit_among_others() -> Callable[[], None]:
        """The same while sixteen other groups are planned and not bound."""
        for plan in plan_groups(hundred[:16], capacity, alternatives=1):
            capacity.reserve(plan.demand, plan.nodes)
        return admit

    calls: dict[str, tuple[Callable[[], object], int]] = {
        "one group of 8, best domain and ranks": (lambda: plan_group(eight, capacity, alternatives=1), rounds),
        "the same with 32 rank maps": (lambda: plan_group(eight, capacity), rounds),
        "one group of 40 over several racks": (lambda: plan_group(forty, capacity, alternatives=1), 20),
        "100 groups of 8, each seeing the others": (lambda: plan_groups(hundred, capacity, alternatives=1), 5),
        "one pod bound and gone": (change, rounds),
        "a leader's admission: plan, 32 landings, annotation": (admit, rounds),
    }
    rows: list[list[object]] = [[nodes, name, *_timed(call, count)] for name, (call, count) in calls.items()]
    return [*rows, [nodes, "the same beside 16 groups not bound yet", *_timed(admit_among_others(), rounds)]]


def _timed(call: Callable[[], object], count: int) -> tuple[float, float]:
    call()
    spent: list[float] = []
    for _ in range(count):
        started = time.thread_time_ns()
        call()
        spent.append((time.thread_time_ns() - started) / 1e6)
    spent.sort()
    return spent[len(spent) // 2], spent[min(len(spent) - 1, len(spent) * 99 // 100)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts that are named, all of them by default."""
    parts = {"quality": quality, "fill": fill, "speed": speed}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="quality, fill, speed; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller fleets")
    arguments = parser.parse_args(argv)
    print(f"Python {platform.python_version()}, {platform.machine()}\n")
    for name in arguments.parts or parts:
        if name not in parts:
            parser.error(f"unknown part {name!r}; known are {', '.join(parts)}")
        parts[name](arguments.quick)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
