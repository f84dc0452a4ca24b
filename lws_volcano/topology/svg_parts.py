"""Pieces of SVG: text, rectangles, colours."""

import colorsys
from typing import Final
from xml.sax.saxutils import escape

from lws_volcano.topology.model import ACROSS, Topology

__all__ = ["Palette", "cut", "rect", "text"]

_GOLDEN: Final = 0.381966
"""Steps of this part of the circle keep neighbouring hues far apart, however many there are."""


def text(x: float, y: float, words: str, size: int, kind: str) -> str:
    """A line of text; `kind` names style classes."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" class="{kind}">{escape(words)}</text>'


def rect(x: float, y: float, width: float, height: float, look: str) -> str:
    """A rectangle; `look` holds its further attributes."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


def cut(words: str, letters: int) -> str:
    """Text of at most so many letters, the middle left out where there are more."""
    if len(words) <= letters:
        return words
    head = max(letters // 2, 1)
    tail = max(letters - head - 1, 0)
    return f"{words[:head]}\u2026{words[len(words) - tail :]}"


class Palette:
    """One hue for the boxes of one parent; grey for what joins several such parents."""

    def __init__(self, topology: Topology) -> None:
        holders = [index for index, nodes in enumerate(topology.attached) if nodes]
        leaves = [index for index in holders if not topology.children[index]]
        families = dict.fromkeys(topology.parent[index] for index in leaves)
        self._hue = {parent: (0.58 + at * _GOLDEN) % 1.0 for at, parent in enumerate(families)}
        self._parent = topology.parent
        self._leaves = set(leaves)

    def colour(self, index: int, light: float, strength: float) -> str:
        """Colour of a domain, as light and as strong as asked (0 to 1 each)."""
        family = self._parent[index] if index in self._leaves else index
        hue = self._hue.get(family)
        if hue is None or index == ACROSS:
            hue, strength = 0.6, min(strength, 0.15)
        red, green, blue = (round(part * 255) for part in colorsys.hls_to_rgb(hue, light, strength))
        return f"#{red:02x}{green:02x}{blue:02x}"
