"""A topology as a picture for a slide: racks as boxes, tiers as rows, bandwidth on the edges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from lws_volcano.topology.hostlist import compress
from lws_volcano.topology.model import ACROSS, Tier, Topology
from lws_volcano.topology.rates import format_bandwidth
from lws_volcano.topology.svg_layout import lay_out
from lws_volcano.topology.svg_parts import Palette, cut, rect, text
from lws_volcano.topology.svg_shapes import LETTER, PADDING, PILL, ROW, TITLE, UNPLACED, Box, Grid, Layout

__all__ = ["Legend", "Mark", "tree_svg"]

LEFT: Final = 176.0
TOP: Final = 88.0
MARGIN: Final = 24.0
LEGEND: Final = 20.0
SWATCH: Final = 22.0
LINE: Final = "#9ca3af"
_STYLE: Final = (
    "text{font-family:Inter,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;fill:#1f2937}"
    ".mid{text-anchor:middle}.name{font-weight:600}.light{fill:#ffffff}.faint{fill:#6b7280}"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What is painted over a node: its fill, a short text, and the words of its tool tip."""

    fill: str
    label: str
    tip: str


@dataclass(frozen=True, slots=True)
class Legend:
    """An entry below the picture; those without a colour have no swatch, and a line to themselves."""

    colour: str
    words: str


def tree_svg(topology: Topology, *, marks: Mapping[str, Mark] | None = None, legend: Sequence[Legend] = ()) -> str:
    """An SVG document; node names are in the tool tips where the cells are too small for text.

    Parameters
    ----------
    topology
        What is drawn.
    marks
        Node name -> what is painted over it; with marks the other nodes are pale.
    legend
        Lines below the picture.
    """
    return _Picture(topology, marks or {}, legend).draw()


class _Picture:
    def __init__(self, topology: Topology, marks: Mapping[str, Mark], legend: Sequence[Legend]) -> None:
        self.topology = topology
        self.marks = marks
        self.legend = legend
        self.layout: Layout = lay_out(topology, LEFT, TOP)
        self.colour = Palette(topology).colour
        self.width = max(self.layout.width, LEFT + 420.0)
        self.entries = list(self._legend_places())
        self.height = max([self.layout.height, *(y + LEGEND for _, y, _ in self.entries)])

    def draw(self) -> str:
        """All parts, from the background to the front."""
        size = f'width="{self.width:.0f}" height="{self.height:.0f}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" {size}'
        parts = [
            f'{head} role="img" aria-label={quoteattr(f"{self.topology.name}: {self._summary()}")}>',
            f"<style>{_STYLE}</style>",
            rect(0, 0, self.width, self.height, 'fill="#ffffff"'),
            text(MARGIN, 40, self.topology.name or "topology", 22, "name"),
            text(MARGIN, 60, self._summary(), 13, "faint"),
            *self._row_labels(),
            *self._frames(),
            *self._edges(),
            *self._pills(),
            *(part for grid in self.layout.grids for box in grid.boxes for part in self._box(grid, box)),
            *self._legend(),
            "</svg>\n",
        ]
        return "\n".join(parts)

    def _summary(self) -> str:
        trees = f", {len(self.topology.roots)} trees" if len(self.topology.roots) > 1 else ""
        return f"{len(self.topology.nodes)} nodes, {len(self.topology.domains)} domains{trees}"

    def _row_labels(self) -> Iterator[str]:
        """Name, number and bandwidth of the tiers, at the left of their rows in each band."""
        tiers: dict[int, dict[Tier, None]] = {}
        for tier in self.topology.tier_of:
            tiers.setdefault(tier.number, {})[tier] = None
        boxes = sorted(set(tiers) - set(self.layout.rows))
        rows = list(enumerate([*self.layout.rows, *boxes]))
        for top, (at, number) in product(self.layout.bands, rows):
            y = top + at * ROW + PILL / 2
            names = " / ".join(dict.fromkeys(tier.name for tier in tiers[number]))
            rates = " / ".join(dict.fromkeys(map(_rate, tiers[number])))
            yield text(MARGIN, y, cut(names, int((LEFT - MARGIN) / LETTER) - 2), 13, "name")
            yield text(MARGIN, y + 16, f"tier {number} \u00b7 {rates}", 11, "faint")

    def _frames(self) -> Iterator[str]:
        """Around the boxes of one parent, where they stand in several rows."""
        for grid in self.layout.grids:
            if grid.parent >= 0 and grid.rows > 1:
                look = f'rx="10" fill="{self.colour(grid.parent, 0.975, 0.5)}" stroke="{LINE}" stroke-opacity="0.6"'
                yield rect(
                    grid.x - PADDING, grid.y - PADDING, grid.width + 2 * PADDING, grid.height + 2 * PADDING, look
                )

    def _edges(self) -> Iterator[str]:
        """From each pill down to a bus, and from the bus to its child pills and boxes."""
        grids = {grid.parent: grid for grid in self.layout.grids}
        for index, pill in self.layout.pills.items():
            below = [self.layout.pills[at] for at in self.topology.children[index] if at in self.layout.pills]
            ends = [(child.x, child.y) for child in below] + (_tops(grids[index]) if index in grids else [])
            if ends:
                bottom = pill.y + PILL
                bus = bottom + (ROW - PILL) * 0.55
                lines = "".join(f"M{pill.x:.1f} {bus:.1f}H{x:.1f}V{y:.1f}" for x, y in ends)
                path = f"M{pill.x:.1f} {bottom:.1f}V{bus:.1f}{lines}"
                yield f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.5"/>'
                yield from self._edge_label(pill.x, (bottom + bus) / 2, _rate(self.topology.tier_of[index]))

    def _edge_label(self, x: float, y: float, rate: str) -> Iterator[str]:
        wide = len(rate) * LETTER * 0.95 + 8
        yield rect(x - wide / 2, y - 8, wide, 16, 'fill="#ffffff"')
        yield text(x, y + 4, rate, 11, "mid faint")

    def _pills(self) -> Iterator[str]:
        for index, pill in self.layout.pills.items():
            domain = self.topology.domains[index]
            tip = escape(f"{domain.name}: {domain.tier_name}, {len(domain)} nodes")
            look = f'rx="{PILL / 2:.0f}" fill="{self.colour(index, 0.34, 0.45)}"'
            yield f"<g><title>{tip}</title>{rect(pill.x - pill.width / 2, pill.y, pill.width, PILL, look)}</g>"
            yield text(pill.x, pill.y + PILL / 2 + 4.5, pill.label, 13, "mid name light")

    def _box(self, grid: Grid, box: Box) -> Iterator[str]:
        """Frame, name, number of nodes, and the nodes."""
        loose = grid.parent == UNPLACED
        name = "in no domain" if loose else "direct" if box.direct else self.topology.domains[box.domain].name
        index = ACROSS if loose else box.domain
        fill = "#ffffff" if box.direct else self.colour(index, 0.94, 0.6)
        dash = ' stroke-dasharray="5 4"' if box.direct else ""
        look = f'rx="7" fill="{fill}" stroke="{self.colour(index, 0.6, 0.45)}"{dash}'
        tip = escape(f"{name}: {', '.join(compress(box.nodes))}")
        yield f"<g><title>{tip}</title>{rect(box.x, box.y, box.width, box.height, look)}</g>"
        letters = int((box.width - 2 * PADDING) / LETTER)
        count = f"{len(box.nodes)} node{'' if len(box.nodes) == 1 else 's'}"
        yield text(box.x + PADDING, box.y + 15, cut(name, letters), 11, "name")
        yield text(box.x + PADDING, box.y + 27, cut(count, letters), 9, "faint")
        yield from self._cells(box, self.colour(index, 0.8, 0.55))

    def _cells(self, box: Box, fill: str) -> Iterator[str]:
        style = self.layout.style
        for at, node in enumerate(box.nodes):
            row, column = divmod(at, box.columns)
            x = box.x + PADDING + column * (style.width + style.gap)
            y = box.y + TITLE + row * (style.height + style.gap)
            mark = self.marks.get(node)
            look = mark.fill if mark else "#f3f4f6" if self.marks else fill
            shape = rect(x, y, style.width, style.height, f'rx="2.5" fill="{look}"')
            label = mark.label if mark else node[style.skip :] if style.skip >= 0 and not self.marks else ""
            yield f"<g><title>{escape(mark.tip if mark else node)}</title>{shape}</g>"
            if label:
                size = int(min(11.0, style.height * 0.8, style.width / max(len(label), 1) * 1.6))
                yield text(x + style.width / 2, y + style.height / 2 + size * 0.36, label, size, "mid")

    def _legend_places(self) -> Iterator[tuple[float, float, Legend]]:
        """Left and top of each entry: swatches in columns as wide as the longest words, read downwards."""
        swatches = [entry for entry in self.legend if entry.colour]
        room = self.width - 2 * MARGIN
        wide = max((len(entry.words) * LETTER + 2 * SWATCH for entry in swatches), default=room)
        rows = -(-len(swatches) // max(1, int(room / wide)))
        for at, entry in enumerate(swatches):
            column, row = divmod(at, rows)
            yield MARGIN + column * wide, self.layout.height + row * LEGEND, entry
        lines = (entry for entry in self.legend if not entry.colour)
        for at, entry in enumerate(lines):
            yield MARGIN, self.layout.height + (rows + at) * LEGEND, entry

    def _legend(self) -> Iterator[str]:
        for x, y, entry in self.entries:
            if entry.colour:
                yield rect(x, y, 14, 14, f'rx="3" fill="{entry.colour}"')
            yield text(x + SWATCH, y + 11, cut(entry.words, int((self.width - MARGIN - x) / LETTER)), 12, "")


def _rate(tier: Tier) -> str:
    return format_bandwidth(tier.bandwidth).replace("GB/s", " GB/s")


def _tops(grid: Grid) -> list[tuple[float, float]]:
    """Where edges end: at each box of a single row, else at the frame around all of them."""
    if grid.rows == 1:
        return [(box.x + box.width / 2, grid.y) for box in grid.boxes]
    return [(grid.x + grid.width / 2, grid.y - PADDING)]
