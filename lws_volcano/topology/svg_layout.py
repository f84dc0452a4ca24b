"""Where everything goes in the picture of a topology.

Tiers are rows, the outermost on top. A domain above the lowest tier is a pill in its row; a domain of the lowest tier
is a box of node cells below all rows, and so are, dashed, the nodes straight in a higher domain. Boxes of one parent
stand in a grid; its number of columns is chosen so that the whole comes closest to the shape of a slide.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from lws_volcano.topology.model import ACROSS, Topology
from lws_volcano.topology.svg_parts import cut

__all__ = ["UNPLACED", "Box", "Grid", "Layout", "Pill", "lay_out"]

SLIDE: Final = 16 / 9
GAP: Final = 14.0
BETWEEN: Final = 30.0
BIG_GAP: Final = 44.0
ROW: Final = 92.0
PILL: Final = 32.0
TITLE: Final = 34.0
PADDING: Final = 8.0
UNPLACED: Final = -2
"""In place of the parent of a grid: its nodes are in no domain."""
LETTER: Final = 6.7
"""Width of a letter of 11 px in a plain sans-serif font, on the safe side."""


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How nodes are drawn: with their names, with the part that differs, or as squares."""

    width: float
    height: float
    gap: float
    skip: int
    """Letters of the node name to leave out; -1: no text at all."""


@dataclass(slots=True)
class Box:
    """A grid of node cells; `domain` is its index, `direct` says that the nodes are straight in a higher domain."""

    domain: int
    nodes: tuple[str, ...]
    columns: int
    width: float
    height: float
    direct: bool = False
    x: float = 0.0
    y: float = 0.0


@dataclass(slots=True)
class Pill:
    """A domain in its tier's row; `x` is its middle."""

    domain: int
    label: str
    width: float
    x: float = 0.0
    y: float = 0.0


@dataclass(slots=True)
class Grid:
    """The boxes below one pill (or `ACROSS`, or `UNPLACED`)."""

    parent: int
    boxes: list[Box]
    columns: int = 1
    x: float = 0.0
    y: float = 0.0

    @property
    def cell(self) -> tuple[float, float]:
        """Size of the largest box."""
        return max(box.width for box in self.boxes), max(box.height for box in self.boxes)

    @property
    def width(self) -> float:
        """Width of all columns."""
        return self.columns * (self.cell[0] + GAP) - GAP

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.ceil(len(self.boxes) / self.columns)

    @property
    def height(self) -> float:
        """Height of all rows."""
        return self.rows * (self.cell[1] + GAP) - GAP


@dataclass(slots=True)
class Layout:
    """The whole picture; coordinates in px, origin at the top left."""

    style: CellStyle
    rows: list[int]
    """Tier numbers that have pills, outermost first."""
    pills: dict[int, Pill] = field(default_factory=dict)
    grids: list[Grid] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def lay_out(topology: Topology, left: float, top: float) -> Layout:
    """Place everything right of `left` and below `top`."""
    style = _style(topology)
    lowest = min((domain.tier for domain in topology.domains), default=0)
    rows = sorted({domain.tier for domain in topology.domains if domain.tier > lowest}, reverse=True)
    layout = Layout(style, rows)
    layout.grids = list(_grids(topology, lowest, style))
    layout.pills = {
        index: _pill(index, domain.name) for index, domain in enumerate(topology.domains) if domain.tier > lowest
    }
    most = max((len(grid.boxes) for grid in layout.grids), default=1)
    tries = sorted({min(columns, most) for columns in (*range(1, 13), 16, 20, 24, 32, 48, 64)})
    best = min(tries, key=lambda columns: _misshape(topology, layout, columns, (left, top)))
    _place(topology, layout, best, (left, top))
    return layout


def _pill(index: int, name: str) -> Pill:
    label = cut(name, 28)
    return Pill(index, label, max(64.0, len(label) * LETTER * 1.15 + 28))


def _style(topology: Topology) -> CellStyle:
    """Full names for few nodes, what differs in the names for some, squares for many."""
    count = len(topology.nodes) + len(topology.unplaced)
    longest = max(map(len, (*topology.nodes, *topology.unplaced)), default=1)
    if count <= 48:  # noqa: PLR2004 - tried out on pictures
        return CellStyle(longest * LETTER + 12, 22.0, 5.0, 0)
    skip = _shared_prefix(topology.nodes)
    if count <= 256 and longest - skip <= 6:  # noqa: PLR2004
        return CellStyle(max((longest - skip) * LETTER + 8, 18), 17.0, 3.0, skip)
    size = 13.0 if count <= 1024 else 7.0  # noqa: PLR2004
    return CellStyle(size, size, 2.0, -1)


def _shared_prefix(names: Sequence[str]) -> int:
    """Length of what all names begin with, digits at its end not counted."""
    if not names:
        return 0
    first, last = min(names), max(names)
    shared = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), 0)
    return len(first[:shared].rstrip("0123456789"))


def _grids(topology: Topology, lowest: int, style: CellStyle) -> Iterator[Grid]:
    """Boxes by the pill above them."""
    by_parent: dict[int, list[Box]] = {}
    for index, domain in enumerate(topology.domains):
        nodes = tuple(topology.nodes[place] for place in topology.attached[index])
        if domain.tier <= lowest:
            by_parent.setdefault(domain.parent, []).append(_box(index, nodes, style, title=domain.name))
        elif nodes:
            by_parent.setdefault(index, []).append(_box(index, nodes, style, title="direct", direct=True))
    if topology.unplaced:
        yield Grid(UNPLACED, [_box(-1, topology.unplaced, style, title="in no domain", direct=True)])
    for parent, boxes in by_parent.items():
        yield Grid(parent, boxes)


def _box(index: int, nodes: tuple[str, ...], style: CellStyle, *, title: str, direct: bool = False) -> Box:
    """A box with about twice as many rows as columns where cells are wide, square where they are square."""
    tall = max(style.width / style.height, 1.0)
    columns = max(1, min(round(math.sqrt(max(len(nodes), 1) / tall)), len(nodes) or 1))
    rows = math.ceil(len(nodes) / columns)
    width = columns * (style.width + style.gap) - style.gap + 2 * PADDING
    height = rows * (style.height + style.gap) + TITLE + PADDING
    return Box(index, nodes, columns, max(width, min(len(title), 14) * LETTER + 2 * PADDING + 1, 52.0), height, direct)


def _misshape(topology: Topology, layout: Layout, columns: int, corner: tuple[float, float]) -> float:
    """How far from a slide, and how much of the grids is empty."""
    _place(topology, layout, columns, corner)
    slots = sum(grid.columns * grid.rows for grid in layout.grids)
    empty = 1 - sum(len(grid.boxes) for grid in layout.grids) / max(slots, 1)
    return abs(math.log(layout.width / layout.height / SLIDE)) + empty


def _place(topology: Topology, layout: Layout, columns: int, corner: tuple[float, float]) -> None:
    """Set all coordinates for one number of columns: widths from below, then positions from above."""
    left, top = corner
    ground = top + len(layout.rows) * ROW
    for grid in layout.grids:
        grid.columns = min(columns, len(grid.boxes)) if grid.parent >= 0 else _free_columns(grid)
    grid_of = {grid.parent: grid for grid in layout.grids}
    inner = _inner_widths(topology, layout, grid_of)
    cursor = _place_trees(topology, layout, grid_of, inner, corner)
    for parent in (ACROSS, UNPLACED):
        if parent in grid_of:
            _set_grid(grid_of[parent], cursor, ground)
            cursor += grid_of[parent].width + BIG_GAP
    layout.width = max(cursor, left + BIG_GAP)
    layout.height = ground + max((grid.height for grid in layout.grids), default=0.0) + BIG_GAP


def _place_trees(
    topology: Topology, layout: Layout, grid_of: dict[int, Grid], inner: dict[int, float], corner: tuple[float, float]
) -> float:
    """Place pills, and what is below them, from the left; where the next tree would begin."""
    cursor, top = corner
    ground = top + len(layout.rows) * ROW
    free: dict[int, float] = {}
    for index, pill in layout.pills.items():
        parent, width = topology.parent[index], max(inner[index], pill.width)
        start = cursor if parent == ACROSS else free[parent]
        pill.x, pill.y = start + width / 2, top + layout.rows.index(topology.domains[index].tier) * ROW
        free[index] = start + (width - inner[index]) / 2
        if index in grid_of:
            _set_grid(grid_of[index], free[index], ground)
            free[index] += grid_of[index].width + BETWEEN
        if parent == ACROSS:
            cursor += width + BIG_GAP
        else:
            free[parent] = start + width + BETWEEN
    return cursor


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
