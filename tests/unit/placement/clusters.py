"""Random small clusters, for whatever is compared with all placements there are."""

from typing import Any

from hypothesis import strategies as st

__all__ = ["GPUS", "trees", "wide_trees"]

GPUS = st.integers(0, 4)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """One to two spines of racks of nodes, sometimes a node straight on a spine; 3 to 7 nodes."""
    tree: dict[str, Any] = {}
    number = 0
    for spine in range(draw(st.integers(1, 2))):
        inside: dict[str, Any] = {}
        for rack in range(draw(st.integers(1, 2))):
            nodes = {f"n{number + i}": draw(GPUS) for i in range(draw(st.integers(1, 3)))}
            number += len(nodes)
            inside[f"r{spine}{rack}"] = nodes
        if draw(st.booleans()) and number < 7:
            inside[f"n{number}"] = draw(GPUS)
            number += 1
        tree[f"s{spine}"] = inside
        if number > 5:
            break
    return tree


@st.composite
def wide_trees(draw: st.DrawFn) -> dict[str, Any]:
    """One spine with more racks than members are lost, many of them equally full."""
    racks = draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=2), min_size=3, max_size=5))
    return {"s0": {f"r{i}": {f"n{i}{j}": gpus for j, gpus in enumerate(rack)} for i, rack in enumerate(racks)}}
