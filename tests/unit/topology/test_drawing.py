"""The tree for the terminal and the picture: complete, well-formed, inside its frame.

Left out: whether the picture is good; that was looked at.
"""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from lws_volcano.topology.build import build
from lws_volcano.topology.schema import ClusterTopology
from lws_volcano.topology.tree_svg import Legend, tree_svg
from lws_volcano.topology.tree_text import tree_text
from tests.unit.topology.builders import document, domain, nodes, trees

SVG = "{http://www.w3.org/2000/svg}"


def test_tree_text() -> None:
    """Domains below one another, nodes as host lists."""
    entries = [
        domain("c", 3), domain("s1", 2, "x1", "c"), domain("s2", 2, "", "c"),
        domain("r1", 1, "n[01-16]", "s1"), domain("r2", 1, "m1", "s2"),
    ]  # fmt: skip
    cluster = nodes("x1", "m1", "z9", *(f"n{i:02d}" for i in range(1, 17)))
    assert tree_text(build(document(entries, ["rack", "spine", "core"]), cluster)).splitlines() == [
        "dc1: 18 nodes, 5 domains",
        "  tier 1 rack: 100GB/s",
        "  tier 2 spine: 50GB/s",
        "  tier 3 core: 25GB/s",
        "c (core, 18 nodes)",
        "├─ s1 (spine, 17 nodes)",
        "│  ├─ x1",
        "│  └─ r1 (rack, 16 nodes): n[01-16]",
        "└─ s2 (spine, 1 node)",
        "   └─ r2 (rack, 1 node): m1",
        "in no domain: z9 (1)",
    ]


def elements(svg: str, tag: str) -> list[ET.Element]:
    """All elements of a kind."""
    return list(ET.fromstring(svg).iter(SVG + tag))  # noqa: S314 - our own text


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of all rectangles."""
    sides = ("x", "y", "width", "height")
    found = [[float(box.get(side, "0")) for side in sides] for box in elements(svg, "rect")]
    return [(x, y, x + width, y + height) for x, y, width, height in found]


@settings(max_examples=60, deadline=None)
@given(trees())
def test_any_topology_can_be_drawn(wanted: ClusterTopology) -> None:
    """Well-formed, every node once, nothing outside the picture, no two node cells over one another."""
    topology = build(wanted)
    svg = tree_svg(topology)
    (_, _, width, height), *inner = rectangles(svg)
    assert all(x >= 0 and y >= 0 and right <= width + 1 and bottom <= height + 1 for x, y, right, bottom in inner)
    words = [text.text for text in elements(svg, "text")]
    assert sorted(word for word in words if word and re.fullmatch(r"n\d+", word)) == sorted(topology.nodes)
    cells = sorted(cell for cell in inner if abs(cell[3] - cell[1] - 22) < 0.01)
    assert len(cells) == len(topology.nodes)
    for at, first in enumerate(cells):
        for second in cells[at + 1 :]:
            assert first[2] <= second[0] or first[3] <= second[1] or second[3] <= first[1]


@pytest.mark.parametrize(("racks", "per"), [(2, 8), (32, 16), (250, 20)])
def test_pictures_have_the_shape_of_a_slide(racks: int, per: int) -> None:
    """From 16 to 5,000 nodes the picture is wider than high, and not a strip."""
    entries = [domain(f"s{i}", "spine") for i in range(max(racks // 8, 1))]
    entries += [domain(f"r{i}", "rack", f"g{i}-[1-{per}]", f"s{i % max(racks // 8, 1)}") for i in range(racks)]
    svg = tree_svg(build(document(entries)))
    (_, _, width, height), *_ = rectangles(svg)
    assert 1.2 < width / height < 3.2


@pytest.mark.parametrize(("roots", "racks"), [(256, 1), (256, 2), (40, 3), (7, 30)])
def test_many_trees_stand_in_bands(roots: int, racks: int) -> None:
    """Hundreds of roots are no strip of paper: all tiers are told in each band, and nothing is over anything."""
    entries = [domain(f"s{i}", "spine") for i in range(roots)]
    entries += [domain(f"r{i}-{j}", "rack", f"g{i}-{j}-[1-4]", f"s{i}") for i in range(roots) for j in range(racks)]
    svg = tree_svg(build(document(entries), nodes("spare", *(f"g{i}-0-1" for i in range(roots)))))
    (_, _, width, height), *inner = rectangles(svg)
    assert 1.2 < width / height < 3.2
    assert all(x >= 0 and y >= 0 and right <= width + 1 and bottom <= height + 1 for x, y, right, bottom in inner)
    pills = [box for box in inner if abs(box[3] - box[1] - 32) < 0.01]
    assert len(pills) == len({(round(x), round(y)) for x, y, _, _ in pills}) == roots
    words = [text.text for text in elements(svg, "text")]
    assert words.count("spine") == words.count("rack") == len({y for _, y, _, _ in pills})


def test_names_are_escaped() -> None:
    """A name is text, never mark-up."""
    svg = tree_svg(build(document([domain("<script>&", "rack", "a<b"), domain('"x"', "spine")])))
    assert "<script>" not in svg
    assert any("<script>&" in (text.text or "") for text in elements(svg, "text"))


def test_a_long_legend_stands_in_columns() -> None:
    """As many as fit beside each other, nothing over the edge; what has no colour keeps a line to itself."""
    entries = [domain("s", 2), *(domain(f"r{rack}", 1, f"r{rack}n[01-16]", "s") for rack in range(12))]
    swatches = [Legend("#aabbcc", f"group-{at}: 2 pods in rack r1") for at in range(90)]
    svg = tree_svg(build(document(entries)), legend=[*swatches, Legend("", "why not " * 9)])
    root = ET.fromstring(svg)  # noqa: S314 - our own
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    places = {text.text: (float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(f"{SVG}text")}
    shown = [place for words, place in places.items() if words and words.startswith("group-")]
    assert len(shown) == 90
    assert len({x for x, _ in shown}) > 2
    assert all(0 < x < width and 0 < y < height for x, y in places.values())
    assert max(y for _, y in shown) < next(y for words, (_, y) in places.items() if words and "why not" in words)
