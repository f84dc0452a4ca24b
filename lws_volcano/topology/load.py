"""Documents and nodes to one topology: what the command line and the controller call."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lws_volcano.api.cluster import Node
from lws_volcano.topology.build import build
from lws_volcano.topology.file import Source
from lws_volcano.topology.merge import merge
from lws_volcano.topology.model import Topology

__all__ = ["build_all"]


def build_all(sources: Iterable[Source], nodes: Sequence[Node] | None = None, *, keep_going: bool = False) -> Topology:
    """The topology of all documents together (`build` and `merge` say how); `sources` must not be empty.

    Raises
    ------
    InvalidTopologyError
        One of them was refused, and `keep_going` was not given.
    """
    built: list[Topology] = []
    for source in sources:
        topology = build(source.document, nodes, keep_going=keep_going, origin=source.origin)
        built.append(replace(topology, warnings=(*source.findings, *topology.warnings)))
    return merge(built)
