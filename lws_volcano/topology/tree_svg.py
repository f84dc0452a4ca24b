"""A topology as SVG: to be written."""

from lws_volcano.topology.model import Topology

__all__ = ["tree_svg"]


def tree_svg(topology: Topology) -> str:
    """SVG text."""
    return f"<svg>{topology.name}</svg>\n"
