"""Neighbours as `lldpctl -f json` prints them on each host (`json0` too), gathered in one file.

Source: lldpcli(8), lldpd's JSON writer. The output of one host does not name the host, so the file has to: a mapping
from host to output, or objects one after the other, each with `host` (`hostname`, `node`, `name`) or a local chassis
beside `lldp`; lines prefixed with `host: ` as pdsh writes them are read too. Outputs of switches may be among them.
What is a switch follows from the capabilities that neighbours announce. Hosts that bridge announce that too: --nodes
says what is a node.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.fabric import Fabric
from lws_volcano.topology.importers.hosts import plain_name
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.wiring import imported
from lws_volcano.topology.importers.yaml_text import json_values, mapping

__all__ = ["read"]

_HOST_KEYS: Final = ("host", "hostname", "node", "name")
_OUTPUT: Final = frozenset({"lldp", "local-chassis", "interface"})
_DEEPEST: Final = 4
_SWITCHING: Final = frozenset({"bridge", "router"})
_PDSH: Final = re.compile(r"([A-Za-z0-9][\w.-]{0,252}): ?(.*)")
_GATHER: Final = 'write {"HOST": OUTPUT, ...}, with the output of `lldpctl -f json` on each host'


@dataclass(slots=True)
class _Seen:
    """Who sees whom, and what the neighbours say they can do."""

    neighbours: dict[str, set[str]] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    stations: set[str] = field(default_factory=set)
    nameless: int = 0


def read(source: Source) -> Imported:
    """The document of gathered neighbours.

    Raises
    ------
    TopologyError
        Not JSON of lldpctl, or it does not say which host it comes from.
    """
    notes = Notes(source.keep_going)
    seen = _Seen()
    outputs = list(_outputs(source))
    if not outputs:
        raise TopologyError("has no `lldp`", source.name, _GATHER)
    for host, output in outputs:
        _take(host, output, f"{source.name}: {host}", seen, notes)
    if seen.nameless:
        notes.warn(f"{seen.nameless} neighbours without a name are left out", source.name)
    return imported(_fabric(seen, source, notes), source, notes, "lldp")


def _outputs(source: Source) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Host and its output."""
    by_host = _by_prefix(source.text)
    if by_host is not None:
        for host, text in by_host.items():
            for value in json_values(replace(source, name=f"{source.name}: {host}", text=text)):
                yield host, mapping(value, f"{source.name}: {host}")
        return
    for value in json_values(source):
        yield from _walk("", value, source.name)


def _walk(host: str, value: Any, where: str, depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Outputs in lists and mappings, the key above being the host unless the output names it."""
    if isinstance(value, list) and depth < _DEEPEST:
        for item in value:
            yield from _walk(host, item, where, depth + 1)
        return
    output = mapping(value, f"{where}: {host}" if host else where)
    if output.keys() & _OUTPUT or depth == _DEEPEST:
        yield host or _host(output, where), output
        return
    for name, inner in output.items():
        yield from _walk(name, inner, where, depth + 1)


def _by_prefix(text: str) -> dict[str, str] | None:
    """The text of each host when every line has one in front; none when it is plain JSON."""
    lines = [line for line in text.split("\n") if line.strip()]
    matches = [_PDSH.fullmatch(line) for line in lines]
    if not lines or not all(matches):
        return None
    texts: dict[str, list[str]] = {}
    for match in matches:
        if match is not None:
            texts.setdefault(match[1], []).append(match[2])
    return {host: "\n".join(lines) for host, lines in texts.items()}


def _host(output: Mapping[str, Any], where: str) -> str:
    for key in _HOST_KEYS:
        if isinstance(output.get(key), str):
            return str(output[key])
    for local in _listed(output.get("local-chassis")):
        for name, _ in _chassis(local.get("chassis")):
            if name:
                return name
    raise TopologyError("does not say which host it comes from", where, _GATHER)


def _take(host: str, output: Mapping[str, Any], where: str, seen: _Seen, notes: Notes) -> None:
    if not plain_name(host):
        notes.error(f"{host[:60]!r} can't be the name of a host", where, "correct the name")
        return
    if "lldp" not in output and "interface" not in output:
        notes.error("has no `lldp`", where, _GATHER)
        return
    body = output.get("lldp", output)
    known = seen.neighbours.setdefault(host, set())
    for entry in _listed(body):
        for interface in _interfaces(entry.get("interface")):
            for name, abilities in _chassis(interface.get("chassis")):
                if not plain_name(name):
                    seen.nameless += 1
                    continue
                known.add(name)
                on = {ability for ability, enabled in abilities.items() if enabled}
                if on & _SWITCHING:
                    seen.switches.add(name)
                elif "station" in on:
                    seen.stations.add(name)


def _listed(value: Any) -> list[dict[str, Any]]:
    """Objects, whether there is one or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [entry for entry in values if isinstance(entry, dict)]


def _interfaces(value: Any) -> Iterator[Mapping[str, Any]]:
    """Objects with a chassis: straight in a list (`json0`), or by interface name."""
    for entry in _listed(value):
        if "chassis" in entry:
            yield entry
            continue
        for inner in entry.values():
            yield from _listed(inner)


def _chassis(value: Any) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """Name and abilities of each chassis; without a name its identity (a MAC address, mostly) stands for it."""
    for entry in _listed(value):
        if "id" in entry or "name" in entry or "capability" in entry:
            yield _value(entry.get("name")) or _value(entry.get("id")), _abilities(entry.get("capability"))
            continue
        for name, inner in entry.items():
            for body in _listed(inner):
                yield name, _abilities(body.get("capability"))


def _value(value: Any) -> str:
    """Text as `json` writes it, or the first `value` as `json0` and identities have it."""
    if isinstance(value, str):
        return value
    return next((str(entry["value"]) for entry in _listed(value) if isinstance(entry.get("value"), str)), "")


def _abilities(value: Any) -> dict[str, bool]:
    return {
        str(entry.get("type", "")).casefold(): entry.get("enabled") in (True, "on", "true", "yes")
        for entry in _listed(value)
    }


def _fabric(seen: _Seen, source: Source, notes: Notes) -> Fabric:
    nodes = source.nodes or {}
    switches = {name for name in _everybody(seen) if name not in nodes and _is_switch(name, seen)}
    fabric = Fabric()
    between: list[str] = []
    for host, neighbours in seen.neighbours.items():
        for other in neighbours:
            ends = {end: end in switches for end in (host, other)}
            if all(ends.values()):
                fabric.link(host, other)
            elif any(ends.values()):
                node, switch = (host, other) if ends[other] else (other, host)
                fabric.attach(node, switch)
            else:
                between.append(f"{host} - {other}")
    if between:
        notes.warn(f"{len(between)} cables between hosts don't count: {examples(sorted(between))}", source.name)
    return fabric


def _everybody(seen: _Seen) -> set[str]:
    return {*seen.neighbours, *(other for others in seen.neighbours.values() for other in others)}


def _is_switch(name: str, seen: _Seen) -> bool:
    """Others say that it switches, or it sees mostly hosts itself, or nobody knows what it is.

    One host next to it makes no switch of a host: it may be the adapter in it that has a system of its own.
    """
    if name in seen.switches:
        return not (name in seen.neighbours and name in seen.stations)
    if name in seen.neighbours:
        around = seen.neighbours[name]
        hosts = len(around & seen.stations)
        return hosts > max(1, len(around - seen.stations))
    return name not in seen.stations
