"""Objects that name a list of label levels, broadest first: what Kueue, KAI and Grove have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import examples
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.levels import Level, label_rules, labelled, tier_names
from lws_volcano.topology.importers.nodes import nodes_among, without_values
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels, Source
from lws_volcano.topology.importers.yaml_text import documents, mapping, sequence, text_of

__all__ = ["LevelList", "read_level_list"]

_HOSTNAME: Final = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class LevelList:
    """How a project writes its levels.

    Attributes
    ----------
    group
        API group.
    kinds
        Kinds that hold levels, older names included.
    key
        Field of the label key.
    name
        Field that names the level for people; not every object has it.
    inside_the_node
        Names of levels that are parts of a node.
    """

    group: str
    kinds: Sequence[str]
    key: str
    name: str
    inside_the_node: Sequence[str] = ()


def read_level_list(form: LevelList, source: Source) -> Imported:
    """The document of the levels: domains spelt out when there are nodes, else the rule itself.

    Raises
    ------
    TopologyError
        No such object, several and none chosen, or levels that can't be read.
    """
    values = documents(source)
    chosen = _chosen(values, form, source)
    name = _name(chosen)
    where = f"{source.name}: {chosen.get('kind')} {name}"
    levels = _levels(chosen, form, where)
    nodes: NodeLabels = {**nodes_among(values, source.name).labels, **(source.nodes or {})}
    nodes = without_values(nodes, source.ignore)
    notes = Notes(source.keep_going)
    if not nodes:
        notes.warn("no nodes were given: the labels are written as a rule", where, "add --nodes to spell domains out")
        return Imported(label_rules(name, levels), notes.settle())
    absent = [level.key for level in levels if not any(level.key in labels for labels in nodes.values())]
    if len(absent) == len(levels):
        raise TopologyError(f"no node has a label {examples(absent)}", where, "give the nodes of the same cluster")
    if absent:
        notes.warn(f"no node has a label {examples(absent)}", where)
    return labelled(name, [level for level in levels if level.key not in absent], nodes, where, notes)


def _chosen(values: Sequence[Any], form: LevelList, source: Source) -> Mapping[str, Any]:
    found = [value for value in values if isinstance(value, dict) and _is(value, form)]
    wanted = [value for value in found if source.topology_name in ("", _name(value))]
    if len(wanted) == 1:
        return wanted[0]
    names = examples([_name(value) for value in found], 16)
    if found:
        problem = f"{len(wanted)} objects" if wanted else f"no object named {source.topology_name}"
        raise TopologyError(f"{problem} of kind {form.kinds[0]}", source.name, f"choose with --topology-name: {names}")
    raise TopologyError(f"holds no {form.kinds[0]} of {form.group}", source.name, "give that object and the nodes")


def _is(value: Mapping[str, Any], form: LevelList) -> bool:
    return value.get("kind") in form.kinds and str(value.get("apiVersion", "")).partition("/")[0] == form.group


def _name(value: Mapping[str, Any]) -> str:
    metadata = value.get("metadata")
    return str((metadata.get("name") if isinstance(metadata, dict) else "") or "default")


def _levels(chosen: Mapping[str, Any], form: LevelList, where: str) -> list[Level]:
    """Closest first, without the levels that are the node itself or part of it."""
    written = sequence(mapping(chosen.get("spec"), where).get("levels"), f"{where} spec.levels")
    keys: dict[str, str] = {}
    for number, raw in enumerate(written):
        place = f"{where} spec.levels[{number}]"
        level = mapping(raw, place)
        if form.key not in level:
            raise TopologyError(f"a level without `{form.key}`", place, f"give it a {form.key}")
        key = text_of(level[form.key], place)
        if key in keys:
            raise TopologyError(f"label {key} is a level twice", place, "give each level a label of its own")
        name = text_of(level[form.name], place) if level.get(form.name) else ""
        if key != _HOSTNAME and name not in form.inside_the_node:
            keys[key] = name
        elif key == _HOSTNAME and number < len(written) - 1 - len(form.inside_the_node):
            raise TopologyError(f"{key} is not the last level", place, "levels are written broadest first")
    if not keys:
        raise TopologyError("names no level above the node", where, "add levels such as a rack")
    plain = tier_names(list(reversed(keys)))
    return [Level(level.key, keys[level.key] or level.tier) for level in plain]
