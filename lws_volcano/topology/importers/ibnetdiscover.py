"""Dumps of `ibnetdiscover`: switches, host adapters and their cables, to the tree of locality units.

Source: ibnetdiscover(8) and its output as published. Nodes are named by the first word of what their adapters call
themselves (`gpu-01 HCA-1`, `gpu-01 mlx5_0`); adapters with the maker's description only can't be assigned. All adapters
of a node count, so the rails of one unit come together. Width and speed of the links (`4xNDR`) become bandwidths.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lws_volcano.topology.findings import examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.fabric import Fabric
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.wiring import imported

__all__ = ["read"]

_HEAD: Final = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-fA-F]+)"\s*(?:#\s*"([^"]*)".*)?')
_PORT: Final = re.compile(
    r'\[\d+\](?:\([0-9a-fA-F]+\))?(?:\[ext \d+\])?\s*"([SHR]-[0-9a-fA-F]+)"\[\d+\](?:\([0-9a-fA-F]+\))?(?:\[ext \d+\])?'
    r'\s*(?:#\s*(?:"([^"]*)")?(.*))?'
)
_RATE: Final = re.compile(r"(?:^|\s)(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\s*$")
_LANES: Final = {
    "SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200,
}  # fmt: skip
"""Gb/s of data on one lane: the nominal rate, and of the old ones what is left after 8b/10b."""
_PASSED_OVER: Final = re.compile(
    r"#.*|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid|portguid)=.*|Chassis\b.*|DR path.*"
)
_NAME: Final = re.compile(r"([A-Za-z0-9][\w.-]*)\s+(?:HCA-?\d+|\w+_\d+|\w*hfi\w*|\w*ib\w*|\w*rdma\w*)(?:\s.*)?")
_ALONE: Final = re.compile(r"[A-Za-z][\w-]*\d[\w.-]*")
_SWITCH_NAME: Final = re.compile(r"(?:[^;]*;)?([^;:\s]+)(?::[^;]*)?")
_NOBODY: Final = frozenset({"localhost", "localhost.localdomain", "ubuntu", "mellanox", "unknown"})


@dataclass(slots=True)
class _Dump:
    """Sections by identity; `described` are the switches that have one."""

    names: dict[str, str] = field(default_factory=dict)
    cables: dict[tuple[str, str], int | None] = field(default_factory=dict)
    """What is seen at one end: this end and the other -> Gb/s of all cables, None where one does not say."""
    described: set[str] = field(default_factory=set)
    line_of: dict[str, int] = field(default_factory=dict)


def read(source: Source) -> Imported:
    """The document of a dump.

    Raises
    ------
    TopologyError
        A line that is none of a dump, or switches whose section is missing.
    """
    notes = Notes(source.keep_going)
    dump = _parse(source, notes)
    if not dump.names:
        notes.error("holds no switches and no adapters", source.name, "give the output of ibnetdiscover")
    missing = sorted({end for cable in dump.cables for end in cable if end.startswith("S")} - dump.described)
    if missing:
        named = [f"{identity} ({dump.names.get(identity) or 'no name'})" for identity in missing]
        notes.error(
            f"{len(missing)} switches are linked, but their sections are missing: {examples(named)}",
            source.at(dump.line_of.get(missing[0], 1)),
            "the dump is cut off, take it again",
        )
    return imported(_fabric(dump, source.nodes or {}, notes), source, notes, "infiniband")


def _parse(source: Source, notes: Notes) -> _Dump:
    dump, at = _Dump(), ""
    for number, raw in enumerate(source.text.split("\n"), start=1):
        line = raw.strip()
        head = _HEAD.fullmatch(line)
        port = _PORT.fullmatch(line) if head is None else None
        if head is not None:
            at = head[2]
            dump.described.add(at)
            dump.names[at] = (head[3] or dump.names.get(at, "")).strip()
        elif port is not None and at:
            seen, rate = dump.cables.get((at, port[1]), 0), _rate(port[3] or "")
            dump.cables[at, port[1]] = None if seen is None or rate is None else seen + rate
            dump.line_of.setdefault(port[1], number)
            if port[2]:
                dump.names.setdefault(port[1], port[2].strip())
        elif line and not _PASSED_OVER.fullmatch(line):
            notes.error(f"not a line of ibnetdiscover: {line[:60]!r}", source.at(number), "is the dump cut off?")
    return dump


def _rate(comment: str) -> int | None:
    """Gb/s of a link, such as 400 for `4xNDR`; None where the line does not say."""
    match = _RATE.search(comment)
    return int(match[1]) * _LANES[match[2]] if match else None


def _fabric(dump: _Dump, known: Mapping[str, object], notes: Notes) -> Fabric:
    switches = _switch_names(dump)
    nodes = {one: _node(name, known) for one, name in dump.names.items() if one.startswith("H")}
    fabric = Fabric()
    for identity in switches.values():
        fabric.links.setdefault(identity, set())
    nameless: set[str] = set()
    for one, other in dict.fromkeys((max(ends), min(ends)) for ends in dump.cables):  # switches first
        rate = dump.cables.get((one, other)) or dump.cables.get((other, one))  # both ends see the same cables
        if one.startswith("S") and other.startswith("S"):
            fabric.link(switches[one], switches[other], rate)
        elif one.startswith("S") and other.startswith("H"):
            if nodes.get(other):
                fabric.attach(nodes[other], switches[one], rate)
            else:
                nameless.add(dump.names.get(other) or other)
    if nameless:
        notes.warn(
            f"adapters that don't say which node they are in are left out: {examples(sorted(nameless, key=natural))}",
            mend="set the node description on the hosts (rdma-ndd)",
        )
    return fabric


def _switch_names(dump: _Dump) -> dict[str, str]:
    """A name for each switch: what it calls itself where that is one switch only, else its identity."""
    identities = {end for cable in dump.cables for end in cable if end.startswith("S")} | {
        identity for identity in dump.described if identity.startswith("S")
    }
    short = {identity: _switch_name(dump.names.get(identity, "")) for identity in identities}
    counts: dict[str, int] = {}
    for name in short.values():
        counts[name] = counts.get(name, 0) + 1
    return {identity: name if name and counts[name] == 1 else identity for identity, name in short.items()}


def _switch_name(description: str) -> str:
    match = _SWITCH_NAME.fullmatch(description)
    return match[1] if match and len(match[1]) <= 200 else ""  # noqa: PLR2004


def _node(description: str, known: Mapping[str, object]) -> str:
    """Node that an adapter is in, empty when its description does not say so."""
    first = description.partition(" ")[0]
    if first in known:
        return first
    match = _NAME.fullmatch(description)
    name = match[1] if match else description if _ALONE.fullmatch(description) else ""
    return "" if name.casefold() in _NOBODY or len(name) > 253 else name  # noqa: PLR2004
