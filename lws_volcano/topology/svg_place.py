"""Coordinates for one number of columns: widths from below, then positions from above, bands as they come."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from lws_volcano.topology.model import ACROSS, Topology
from lws_volcano.topology.svg_shapes import BETWEEN, BIG_GAP, GAP, ROW, SLIDE, UNPLACED, Grid, Layout

__all__ = ["place"]


def place(topology: Topology, layout: Layout, columns: int, corner: tuple[float, float]) -> None:
    """Set all coordinates; `corner` is the top left of the first tree."""
    for grid in layout.grids:
        grid.columns = min(columns, len(grid.boxes)) if grid.parent >= 0 else _free_columns(grid)
    grid_of = {grid.parent: grid for grid in layout.grids}
    inner = _inner_widths(topology, layout, grid_of)
    head = len(layout.rows) * ROW
    corners: dict[int, tuple[float, float]] = {}
    (left, top), right = corner, 0.0
    layout.bands = []
    for band in _bands(list(_blocks(topology, layout, grid_of, inner)), head):
        layout.bands.append(top)
        cursor = left
        for block in band:
            corners[block.parent] = (cursor, top)
            cursor += block.width + BIG_GAP
        right = max(right, cursor)
        top += head + max(block.height for block in band) + BIG_GAP
    _place_trees(topology, layout, grid_of, inner, corners)
    for parent in {ACROSS, UNPLACED} & grid_of.keys():
        x, y = corners[parent]
        _set_grid(grid_of[parent], x, y + head)
    layout.width, layout.height = max(right, left + BIG_GAP), top


@dataclass(frozen=True, slots=True)
class _Block:
    """What stays together: a tree by its root, or a grid that hangs on none; `height` is that of its grids."""

    parent: int
    width: float
    height: float


def _blocks(topology: Topology, layout: Layout, grid_of: dict[int, Grid], inner: dict[int, float]) -> Iterator[_Block]:
    root_of: dict[int, int] = {}
    height: dict[int, float] = {}
    for index in layout.pills:
        parent = topology.parent[index]
        root = root_of[index] = index if parent == ACROSS else root_of[parent]
        height[root] = max(height.get(root, 0.0), grid_of[index].height if index in grid_of else 0.0)
    for root, tallest in height.items():
        yield _Block(root, max(inner[root], layout.pills[root].width), tallest)
    for parent in (ACROSS, UNPLACED):
        if parent in grid_of:
            yield _Block(parent, grid_of[parent].width, grid_of[parent].height)


def _bands(blocks: list[_Block], head: float) -> Iterator[list[_Block]]:
    """Blocks in their order, one band below the other, as many as bring the whole close to the shape of a slide."""
    if not blocks:
        yield [_Block(ACROSS, 0.0, 0.0)]
        return
    total = sum(block.width + BIG_GAP for block in blocks)
    one = head + max(block.height for block in blocks) + BIG_GAP
    limit = total / max(1, round(math.sqrt(total / (SLIDE * one))))
    band: list[_Block] = []
    used = 0.0
    for block in blocks:
        if band and used + block.width > limit:
            yield band
            band, used = [], 0.0
        band.append(block)
        used += block.width + BIG_GAP
    yield band


def _place_trees(
    topology: Topology,
    layout: Layout,
    grid_of: dict[int, Grid],
    inner: dict[int, float],
    corners: dict[int, tuple[float, float]],
) -> None:
    """Place pills, and what is below them, from the left; `corners` are those of the roots."""
    head = len(layout.rows) * ROW
    free: dict[int, tuple[float, float]] = {}
    for index, pill in layout.pills.items():
        parent, width = topology.parent[index], max(inner[index], pill.width)
        start, top = corners[index] if parent == ACROSS else free[parent]
        pill.x, pill.y = start + width / 2, top + layout.rows.index(topology.domains[index].tier) * ROW
        below = start + (width - inner[index]) / 2
        if index in grid_of:
            _set_grid(grid_of[index], below, top + head)
            below += grid_of[index].width + BETWEEN
        free[index] = (below, top)
        if parent != ACROSS:
            free[parent] = (start + width + BETWEEN, top)


def _free_columns(grid: Grid) -> int:
    """Columns that make a grid of its own about as wide as a slide."""
    width, height = grid.cell
    return max(1, min(len(grid.boxes), round(math.sqrt(len(grid.boxes) * SLIDE * height / width))))


def _inner_widths(topology: Topology, layout: Layout, grid_of: dict[int, Grid]) -> dict[int, float]:
    """Width of all that is below each pill."""
    inner: dict[int, float] = {}
    for index in reversed(layout.pills):
        below = [child for child in topology.children[index] if child in inner]
        parts = [max(inner[child], layout.pills[child].width) for child in below]
        parts += [grid_of[index].width] if index in grid_of else []
        inner[index] = sum(parts) + BETWEEN * max(len(parts) - 1, 0)
    return inner


def _set_grid(grid: Grid, x: float, y: float) -> None:
    grid.x, grid.y = x, y
    width, height = grid.cell
    for at, box in enumerate(grid.boxes):
        row, column = divmod(at, grid.columns)
        box.x, box.y = x + column * (width + GAP), y + row * (height + GAP)
        box.width, box.height = width, height
