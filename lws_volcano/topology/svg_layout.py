"""Where everything goes in the picture of a topology.

Tiers are rows, the outermost on top. A domain above the lowest tier is a pill in its row; a domain of the lowest tier
is a box of node cells below all rows, and so are, dashed, the nodes straight in a higher domain. Boxes of one parent
stand in a grid; its number of columns is chosen so that the whole comes closest to the shape of a slide. Many trees
stand in several bands, one below the other, each with all the rows.
"""

import math
from collections.abc import Iterator, Sequence

from lws_volcano.topology.model import Topology
from lws_volcano.topology.svg_parts import cut
from lws_volcano.topology.svg_place import place
from lws_volcano.topology.svg_shapes import (
    LETTER,
    PADDING,
    SLIDE,
    TITLE,
    UNPLACED,
    WRAPPED,
    Box,
    CellStyle,
    Grid,
    Layout,
    Pill,
)

__all__ = ["lay_out"]


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
    place(topology, layout, best, (left, top))
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
    """How far from a slide, how much of the grids is empty, and whether tiers are told more than once."""
    place(topology, layout, columns, corner)
    slots = sum(grid.columns * grid.rows for grid in layout.grids)
    empty = 1 - sum(len(grid.boxes) for grid in layout.grids) / max(slots, 1)
    return abs(math.log(layout.width / layout.height / SLIDE)) + empty + WRAPPED * (len(layout.bands) > 1)
