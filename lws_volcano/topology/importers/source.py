"""The input of an importer: text whatever it was packed in, and what the caller asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology import text as packed

__all__ = ["NodeLabels", "Source", "decode"]

NodeLabels = Mapping[str, Mapping[str, str]]
"""Labels by node name."""


@dataclass(frozen=True, slots=True)
class Source:
    """What to import.

    Attributes
    ----------
    name
        File name, for messages.
    text
        The content, lines ended by a line feed.
    nodes
        Nodes of the cluster with their labels; none when the caller does not know them.
    instances
        Node name by what a cloud calls the machine, where the nodes say so.
    topology_name
        Which topology, for files that hold several.
    ignore
        Switches to leave out.
    levels
        Label keys, closest first, for formats that are made of labels.
    keep_going
        Import what is sound and list the rest, instead of refusing the whole.
    """

    name: str
    text: str
    nodes: NodeLabels | None = None
    instances: Mapping[str, str] = field(default_factory=dict)
    topology_name: str = ""
    ignore: frozenset[str] = frozenset()
    levels: Sequence[str] = field(default=())
    keep_going: bool = False

    def at(self, line: int) -> str:
        """File and line, for messages."""
        return f"{self.name}:{line}"


def decode(data: bytes, name: str) -> str:
    """Text of a file: unpacked, byte order mark and carriage returns gone.

    Raises
    ------
    TopologyError
        Not text, a broken archive, or too large.
    """
    text = packed.decode(data, name)
    if "\0" in text:
        raise TopologyError("is not text: it has zero bytes", name, "give the text file itself")
    return text.replace("\r\n", "\n").replace("\r", "\n")
