"""What the picture of a topology is made of, and its measures in px."""

import math
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Box", "CellStyle", "Grid", "Layout", "Pill"]

SLIDE: Final = 16 / 9
GAP: Final = 14.0
BETWEEN: Final = 30.0
BIG_GAP: Final = 44.0
ROW: Final = 92.0
PILL: Final = 32.0
TITLE: Final = 34.0
PADDING: Final = 8.0
WRAPPED: Final = 0.5
"""So much nearer to a slide must a picture in bands be."""
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
    bands: list[float] = field(default_factory=list)
    """Where each band begins; trees wrap as words do."""
    pills: dict[int, Pill] = field(default_factory=dict)
    grids: list[Grid] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
