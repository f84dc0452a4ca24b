"""Topograph's model files, both layouts: `switches` + `blocks`, and before `switches` + `nodes` + `capacity_blocks`.

Source: topograph docs/modeling.md. A leaf may be named in a block or as a child only. In the older layout a switch
names its nodes, and nodes or capacity blocks name the NVLink domain.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.hosts import Hosts
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.switches import Switch
from lws_volcano.topology.importers.topograph import DOMAINS, SUB_DOMAINS, accelerator, imported
from lws_volcano.topology.importers.yaml_text import mapping, sequence, single, text_of

__all__ = ["read"]

_NEW: Final = {"switches", "blocks"}
_OLD: Final = {"switches", "nodes", "capacity_blocks"}


@dataclass(slots=True)
class _Model:
    notes: Notes
    hosts: Hosts
    where: str
    switches: dict[str, Switch] = field(default_factory=dict)
    domains: dict[str, dict[str, None]] = field(default_factory=dict)
    parts: dict[str, dict[str, None]] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)

    def hosts_of(self, value: Any, where: str) -> tuple[str, ...]:
        """Names of a list of host ranges, or of a single one."""
        lists = [value] if isinstance(value, str | int) else sequence(value, where)
        return self.hosts.expand_each([text_of(each, where) for each in lists], where) or ()


def read(source: Source) -> Imported:
    """The document of a model.

    Raises
    ------
    TopologyError
        Neither layout, or switches that are no tree.
    """
    notes = Notes(source.keep_going)
    model = _Model(notes, Hosts(notes), source.name)
    content = mapping(single(source, "model"), source.name)
    strange = sorted(content.keys() - _NEW - _OLD)
    if strange or ("blocks" in content and content.keys() & (_OLD - _NEW)):
        mix = f"unknown section {examples(strange)}" if strange else "sections of both layouts"
        raise TopologyError(mix, source.name, "a model has switches and blocks, or switches, nodes and capacity_blocks")
    _read_switches(model, content.get("switches"))
    if content.keys() & (_OLD - _NEW):
        _read_nodes(model, content.get("nodes"))
        _read_capacity(model, content.get("capacity_blocks"))
    else:
        _read_blocks(model, content.get("blocks"))
    _add_leaves(model)
    outside = [node for node in model.declared if not model.declared[node]]
    if outside:
        notes.warn(f"{len(outside)} nodes hang on no switch: {examples(outside)}", source.name)
    groups = (model.domains, model.parts)
    return imported(source.topology_name or "topograph", list(model.switches.values()), groups, source, notes)


def _read_switches(model: _Model, raw: Any) -> None:
    for name, value in mapping(raw, f"{model.where}: switches").items():
        where = f"{model.where}: switch {name}"
        entry = mapping(value, where)
        nodes = model.hosts_of(entry.get("nodes"), where)
        children = model.hosts_of(entry.get("switches"), where)
        if not model.hosts.expand_each([name], where):
            continue
        model.switches[name] = Switch(name, f"switch {name}", nodes, children)
        model.declared.update(dict.fromkeys(nodes, name))
        _accelerate(model, nodes, entry)


def _read_blocks(model: _Model, raw: Any) -> None:
    named = {child for switch in model.switches.values() for child in switch.children} | model.switches.keys()
    seen: dict[str, int] = {}
    for number, value in enumerate(sequence(raw, f"{model.where}: blocks"), start=1):
        where = f"{model.where}: block {number}"
        entry = mapping(value, where)
        nodes = model.hosts_of(entry.get("nodes"), where)
        switch = text_of(entry["switch"], where) if entry.get("switch") is not None else ""
        if switch and switch not in named:
            model.notes.error(f"block {number} is on the unknown switch {switch}", where, "name it under switches")
            continue
        if not nodes:
            model.notes.error(f"block {number} has no nodes", where, "every block needs nodes")
            continue
        twice = [node for node in nodes if node in seen]
        if twice:
            first = seen[twice[0]]
            model.notes.error(f"{examples(twice)} in block {first} and in block {number}", where, "keep one of them")
            continue
        seen.update(dict.fromkeys(nodes, number))
        model.declared.update(dict.fromkeys(nodes, switch))
        if switch:
            before = model.switches.get(switch, Switch(switch, f"switch {switch}"))
            model.switches[switch] = replace(before, nodes=(*before.nodes, *nodes))
        _accelerate(model, nodes, entry)


def _read_nodes(model: _Model, raw: Any) -> None:
    for name, value in mapping(raw, f"{model.where}: nodes").items():
        where = f"{model.where}: node {name}"
        nodes = model.hosts_of(name, where)
        model.declared.update({node: model.declared.get(node, "") for node in nodes})
        _accelerate(model, nodes, mapping(value, where))


def _read_capacity(model: _Model, raw: Any) -> None:
    for name, value in mapping(raw, f"{model.where}: capacity_blocks").items():
        where = f"{model.where}: capacity block {name}"
        entry = mapping(value, where)
        nodes = model.hosts_of(entry.get("nodes"), where)
        model.declared.update({node: model.declared.get(node, "") for node in nodes})
        _accelerate(model, nodes, entry)


def _accelerate(model: _Model, nodes: Iterable[str], entry: Mapping[str, Any]) -> None:
    """Note the accelerator domain that labels, annotations or (before) attributes give these nodes."""
    said = {**_texts(entry.get("labels")), **_texts(entry.get("annotations"))}
    domain = accelerator(said, DOMAINS) or _texts(entry.get("attributes")).get("nvlink", "")
    part = accelerator(said, SUB_DOMAINS)
    if domain:
        model.domains.setdefault(domain, {}).update(dict.fromkeys(nodes))
    if domain and part:
        model.parts.setdefault(part, {}).update(dict.fromkeys(nodes))


def _texts(raw: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in raw.items()} if isinstance(raw, dict) else {}


def _add_leaves(model: _Model) -> None:
    """Children that nobody defines are leaves; the file may leave them out."""
    for switch in list(model.switches.values()):
        for child in switch.children:
            model.switches.setdefault(child, Switch(child, f"switch {child}"))
