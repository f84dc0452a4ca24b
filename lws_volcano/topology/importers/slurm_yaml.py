"""Slurm's topology.yaml (25.05 on): several topologies in one file, each a tree, blocks, or flat.

Source: topology.yaml(5). Without a name the topology marked `cluster_default` is read, or the only one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.hosts import Hosts
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.slurm import SlurmTopology, imported
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.switches import Switch
from lws_volcano.topology.importers.yaml_text import mapping, sequence, single, text_of

__all__ = ["read"]

_TYPES: Final = ("tree", "block", "flat", "ring", "torus3d")


def read(source: Source) -> Imported:
    """The document of one topology of the file.

    Raises
    ------
    TopologyError
        Not a topology.yaml, no such topology in it, or one that is no tree.
    """
    entries = [mapping(entry, source.name) for entry in sequence(single(source, "topology.yaml"), source.name)]
    notes = Notes(source.keep_going)
    if not entries:
        return imported(SlurmTopology(source.topology_name or "slurm"), source, notes)
    chosen = _chosen(entries, source, notes)
    name = text_of(chosen["topology"], source.name)
    where = f"{source.name}: topology {name}"
    topology = SlurmTopology(name, sizes_where=where)
    _fill(topology, chosen, where, Hosts(notes))
    return imported(topology, source, notes)


def _chosen(entries: Sequence[Mapping[str, Any]], source: Source, notes: Notes) -> Mapping[str, Any]:
    for number, entry in enumerate(entries, start=1):
        if "topology" not in entry:
            raise TopologyError(
                f"entry {number} has no `topology`", source.name, "every entry starts with `- topology: NAME`"
            )
    names = [text_of(entry["topology"], source.name) for entry in entries]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise TopologyError(f"topology {twice[0]} is defined twice", source.name, "give each a name of its own")
    return entries[_position(entries, names, source, notes)]


def _position(entries: Sequence[Mapping[str, Any]], names: list[str], source: Source, notes: Notes) -> int:
    mend = f"choose with --topology-name: {examples(names, 16)}"
    if source.topology_name:
        if source.topology_name not in names:
            raise TopologyError(f"no topology {source.topology_name} in the file", source.name, mend)
        return names.index(source.topology_name)
    if len(entries) == 1:
        return 0
    default = [at for at, entry in enumerate(entries) if entry.get("cluster_default") is True]
    if not default:
        raise TopologyError(f"{len(entries)} topologies in the file and none is cluster_default", source.name, mend)
    notes.warn(f"read {names[default[0]]}, the cluster_default of {len(entries)} topologies", source.name, mend)
    return default[0]


def _fill(topology: SlurmTopology, entry: Mapping[str, Any], where: str, hosts: Hosts) -> None:
    kinds = [kind for kind in _TYPES if entry.get(kind) not in (None, False)]
    if len(kinds) != 1:
        problem = f"is {' and '.join(kinds)} at once" if kinds else "has none of tree, block, flat"
        raise TopologyError(f"the topology {problem}", where, "give it exactly one of tree, block, flat")
    kind = kinds[0]
    if kind in ("ring", "torus3d"):
        raise TopologyError(f"a {kind} has no tiers", where, "only tree and block topologies can be imported")
    body = mapping(entry[kind], f"{where}: {kind}") if kind != "flat" else {}
    if kind == "tree":
        topology.switches = _switches(sequence(body.get("switches"), f"{where}: switches"), where, hosts)
    elif kind == "block":
        topology.blocks = _blocks(sequence(body.get("blocks"), f"{where}: blocks"), where, hosts)
        topology.sizes = _sizes(body.get("block_sizes"), where)
    else:
        hosts.notes.warn("the topology is flat: it says nothing about distances", where)


def _switches(entries: Sequence[Any], where: str, hosts: Hosts) -> list[Switch]:
    return _read(entries, "switch", {"switch", "nodes", "children"}, where, hosts)


def _blocks(entries: Sequence[Any], where: str, hosts: Hosts) -> list[Switch]:
    return _read(entries, "block", {"block", "nodes"}, where, hosts)


def _read(entries: Sequence[Any], kind: str, fields: set[str], where: str, hosts: Hosts) -> list[Switch]:
    found: list[Switch] = []
    for number, raw in enumerate(entries, start=1):
        place = f"{where}: {kind} {number}"
        entry = mapping(raw, place)
        if kind not in entry or set(entry) - fields:
            strange = examples(sorted(set(entry) - fields))
            problem = f"unknown field {strange}" if strange else f"no `{kind}`"
            hosts.notes.error(problem, place, f"known fields: {', '.join(sorted(fields))}")
            continue
        name = text_of(entry[kind], place)
        nodes = _hosts(entry.get("nodes"), f"{where}: {kind} {name}", hosts)
        children = _hosts(entry.get("children"), f"{where}: {kind} {name}", hosts)
        if nodes is not None and children is not None:
            found.append(Switch(name, f"{kind} {number}", nodes, children))
    return found


def _hosts(value: Any, where: str, hosts: Hosts) -> tuple[str, ...] | None:
    """A host list, or a list of them."""
    if value is None:
        return ()
    lists = value if isinstance(value, list) else [value]
    return hosts.expand_each([text_of(each, where) for each in lists], where)


def _sizes(value: Any, where: str) -> tuple[int, ...]:
    sizes = value if isinstance(value, list) else [value] if value is not None else []
    if not all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes):
        raise TopologyError(f"block_sizes {sizes!r} are no numbers above 0"[:200], where, "write [18, 36]")
    return tuple(sizes)
