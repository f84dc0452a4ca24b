"""Slurm's topology.conf, tree and block.

One statement a line, `Key=Value` pairs in any order and case, `#` starts a comment, a backslash at the end of a line
continues it. Source: topology.conf(5). A ring (26.11) is a block here: its order is not kept. LinkSpeed with a unit
(`400Gb/s`) becomes the bandwidth of a tier all of whose switches have one.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.hosts import Hosts, plain_name
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.slurm import SlurmTopology, imported
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.switches import Switch
from lws_volcano.topology.rates import parse_bandwidth

__all__ = ["read"]

_NAME: Final = "slurm"
_COMMENT: Final = re.compile(r"(?<!\\)#.*")
_PAIR: Final = re.compile(r'\s*([A-Za-z]\w*)\s*=\s*("[^"]*"|\S*)(?=\s|$)')
_LONGEST: Final = 1_000_000
"""Letters of one statement."""

_HEADS: Final[Mapping[str, tuple[str, ...]]] = {
    "switchname": ("nodes", "switches", "linkspeed"),
    "blockname": ("nodes",),
    "ringname": ("nodes",),
    "blocksizes": (),
}
_SPELLED: Final = {
    "switchname": "SwitchName", "blockname": "BlockName", "ringname": "RingName", "blocksizes": "BlockSizes",
    "nodes": "Nodes", "switches": "Switches", "linkspeed": "LinkSpeed",
}  # fmt: skip


def read(source: Source) -> Imported:
    """The document of a topology.conf.

    Raises
    ------
    TopologyError
        A statement that is not understood, or a topology that is no tree.
    """
    notes = Notes(source.keep_going)
    hosts = Hosts(notes)
    topology = SlurmTopology(source.topology_name or _NAME)
    for line, statement in _statements(source.text):
        where = source.at(line)
        try:
            fields = _fields(statement)
        except TopologyError as error:
            notes.refused(error, where)
            continue
        _take(topology, fields, where, hosts)
    return imported(topology, source, notes)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Statements with the number of their first line, comments gone and continued lines joined."""
    start, held = 0, ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = _COMMENT.sub("", raw).rstrip()
        start = start or number
        held += line.removesuffix("\\")
        if line.endswith("\\") and len(held) < _LONGEST:
            continue
        if held.strip():
            yield start, held.strip()
        start, held = 0, ""
    if held.strip():
        yield start, held.strip()


def _fields(statement: str) -> dict[str, str]:
    """Values by key in lower case, the head of the statement first."""
    fields: dict[str, str] = {}
    at = 0
    while at < len(statement):
        pair = _PAIR.match(statement, at)
        if pair is None:
            rest = statement[at:].strip()
            raise TopologyError(
                f"{rest[:60]!r} is no Key=Value",
                mend="expected SwitchName=, BlockName= or BlockSizes= and no blanks in lists",
            )
        key = pair[1].casefold()
        if key in fields:
            raise TopologyError(f"{pair[1]} is given twice", mend="keep one of them")
        fields[key] = pair[2].strip('"')
        at = pair.end()
    heads = [key for key in fields if key in _HEADS]
    if len(heads) != 1:
        problem = "more than one of" if heads else "none of"
        raise TopologyError(
            f"the line has {problem} SwitchName, BlockName, BlockSizes", mend=_guess(next(iter(fields)), tuple(_HEADS))
        )
    allowed = _HEADS[heads[0]]
    for key in fields:
        if key != heads[0] and key not in allowed:
            raise TopologyError(f"{_SPELLED[heads[0]]} has no {key}=", mend=_guess(key, allowed))
    return {heads[0]: fields.pop(heads[0]), **fields}


def _guess(key: str, allowed: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(key, allowed, 1)
    known = ", ".join(_SPELLED[name] for name in allowed) or "nothing else"
    return f"did you mean {_SPELLED[near[0]]}=" if near else f"known here: {known}"


def _take(topology: SlurmTopology, fields: Mapping[str, str], where: str, hosts: Hosts) -> None:
    head, value = next(iter(fields.items()))
    if head == "blocksizes":
        _take_sizes(topology, value, where, hosts.notes)
        return
    if not plain_name(value):
        hosts.notes.error(f"{value[:60]!r} can't be a name", where, f"one {_SPELLED[head]}= a line, no ranges")
        return
    nodes = hosts.expand(fields["nodes"], where) if "nodes" in fields else ()
    children = hosts.expand(fields["switches"], where) if "switches" in fields else ()
    if nodes is None or children is None:
        return
    switch = Switch(value, where, nodes, children, _speed(fields.get("linkspeed", "")))
    (topology.switches if head == "switchname" else topology.blocks).append(switch)
    if head == "ringname":
        hosts.notes.warn(f"ring {value} is read as a block: the order in the ring is not kept", where)


def _speed(text: str) -> Fraction | None:
    """GB/s where a unit is given: the numbers of Slurm are of arbitrary units, and mean nothing by themselves."""
    try:
        return parse_bandwidth(text) if text[-1:].isalpha() else None
    except TopologyError:
        return None


def _take_sizes(topology: SlurmTopology, value: str, where: str, notes: Notes) -> None:
    sizes = value.split(",")
    if topology.sizes:
        notes.error("BlockSizes is given twice", where, f"the first is at {topology.sizes_where}")
    elif all(re.fullmatch(r"[0-9]{1,9}", size.strip()) and int(size) > 0 for size in sizes):
        topology.sizes, topology.sizes_where = tuple(int(size) for size in sizes), where
    else:
        notes.error(f"BlockSizes={value[:60]} are no numbers above 0", where, "write BlockSizes=18,36")
