"""HyperNodes that are there already, with the nodes of the cluster: exact names, regular expressions, labels.

Source: topology.volcano.sh/v1alpha1. Tier numbers are kept, gaps included.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from lws_volcano.api.errors import TopologyError
from lws_volcano.api.volcano import HyperNode, HyperNodeMember, MemberSelector
from lws_volcano.topology.findings import examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.importers.document import Imported, Placed, Tiers, topology_document
from lws_volcano.topology.importers.nodes import nodes_among
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import NodeLabels, Source
from lws_volcano.topology.importers.yaml_text import documents
from lws_volcano.topology.patterns import matching
from lws_volcano.topology.schema import NodeSelector, TierSpec
from lws_volcano.topology.selectors import LabelIndex

__all__ = ["read"]

_KIND: Final = "HyperNode"


@dataclass(frozen=True, slots=True)
class _Cluster:
    """What members select from: nodes with labels and HyperNodes; `known` says whether the nodes are."""

    nodes: NodeLabels
    hypernodes: Mapping[str, HyperNode]
    index: LabelIndex
    known: bool

    @classmethod
    def of(cls, nodes: NodeLabels, hypernodes: Mapping[str, HyperNode]) -> "_Cluster":
        return cls(nodes, hypernodes, LabelIndex(nodes), bool(nodes))


def read(source: Source) -> Imported:
    """The document of HyperNodes.

    Raises
    ------
    TopologyError
        No HyperNodes, selectors that need nodes which were not given, or HyperNodes that are no tree.
    """
    values = documents(source)
    notes = Notes(source.keep_going)
    hypernodes = _hypernodes(values, source, notes)
    nodes: NodeLabels = {**nodes_among(values, source.name).labels, **(source.nodes or {})}
    domains = _domains(_Cluster.of(nodes, hypernodes), notes)
    document = topology_document(
        source.topology_name or "hypernodes",
        domains,
        notes,
        partial(_tiers, _names(hypernodes.values(), notes)),
        fold=False,
        keep_numbers=True,
    )
    return Imported(document, notes.settle())


def _hypernodes(values: Iterable[Any], source: Source, notes: Notes) -> dict[str, HyperNode]:
    found: dict[str, HyperNode] = {}
    for value in values:
        if not isinstance(value, dict) or value.get("kind") != _KIND:
            continue
        try:
            hypernode = HyperNode.parse(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            notes.error(f"a HyperNode with a wrong {place}: {first['msg']}", source.name, "correct this field")
            continue
        if hypernode.name in found or not hypernode.name:
            notes.error(f"HyperNode {hypernode.name or 'without a name'} is there twice"[:120], source.name, "keep one")
            continue
        if hypernode.name not in source.ignore:
            found[hypernode.name] = hypernode
    if not found and not notes.findings:
        raise TopologyError("holds no HyperNode", source.name, "give `kubectl get hypernodes,nodes -o json`")
    return found


def _domains(cluster: _Cluster, notes: Notes) -> list[Placed]:
    nodes: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    for name, hypernode in cluster.hypernodes.items():
        nodes[name] = []
        for member in hypernode.spec.members:
            for found in _selected(member, name, cluster, notes):
                if member.type == "Node":
                    nodes[name].append(found)
                elif not parents.setdefault(found, []) or parents[found][-1] != name:
                    parents[found].append(name)
    _one_home(nodes, notes)
    above = {name: _parent(name, parents.get(name, []), cluster.hypernodes, notes) for name in cluster.hypernodes}
    unplaced = cluster.nodes.keys() - {node for members in nodes.values() for node in members}
    if unplaced:
        notes.warn(f"{len(unplaced)} nodes are in no HyperNode: {examples(sorted(unplaced, key=natural))}")
    return [
        Placed(name, hypernode.spec.tier, above[name], tuple(dict.fromkeys(nodes[name])))
        for name, hypernode in cluster.hypernodes.items()
    ]


def _parent(name: str, above: Sequence[str], hypernodes: Mapping[str, HyperNode], notes: Notes) -> str | None:
    if len(above) > 1:
        notes.error(f"{name} has the parents {examples(above)}", f"{_KIND} {name}", "leave it in one of them")
        return None
    if above and hypernodes[above[0]].spec.tier <= hypernodes[name].spec.tier:
        notes.error(
            f"{name} (tier {hypernodes[name].spec.tier}) is in {above[0]} (tier {hypernodes[above[0]].spec.tier})",
            f"{_KIND} {above[0]}",
            "a HyperNode holds those of lower tiers only",
        )
        return None
    return above[0] if above else None


def _one_home(nodes: dict[str, list[str]], notes: Notes) -> None:
    """A node straight in two HyperNodes is in neither, and an error."""
    homes: dict[str, list[str]] = {}
    for name, members in nodes.items():
        for node in dict.fromkeys(members):
            homes.setdefault(node, []).append(name)
    shared: dict[tuple[str, ...], list[str]] = {}
    for node, names in homes.items():
        if len(names) > 1:
            shared.setdefault(tuple(names), []).append(node)
    for holders, both in shared.items():
        notes.error(
            f"{examples(both)} {'is' if len(both) == 1 else 'are'} straight in {examples(holders)}",
            f"{_KIND} {holders[0]}",
            "a node belongs to one of them",
        )
        for name in holders:
            nodes[name] = [node for node in nodes[name] if node not in set(both)]


def _selected(member: HyperNodeMember, holder: str, cluster: _Cluster, notes: Notes) -> Sequence[str]:
    """Names of the nodes or HyperNodes that a member stands for."""
    where = f"{_KIND} {holder}"
    selector = member.selector
    chosen = [kind for kind in (selector.exact_match, selector.regex_match, selector.label_match) if kind is not None]
    if len(chosen) != 1 or member.type not in ("Node", _KIND):
        notes.error("a member needs a type and one of exactMatch, regexMatch, labelMatch", where, "correct the member")
        return ()
    of_nodes = member.type == "Node"
    if of_nodes and not cluster.known and selector.exact_match is None:
        notes.error("members by regex or label need the nodes", where, "add --nodes FILE with the nodes of the cluster")
        return ()
    names = cluster.nodes if of_nodes else cluster.hypernodes
    found = _find(selector, names, cluster, of_nodes, partial(notes.error, where=where))
    if not found and selector.exact_match is not None:
        notes.warn(f"there is no {member.type} {selector.exact_match.get('name', '')}"[:200], where)
    return [name for name in found if of_nodes or name != holder]


def _find(
    selector: MemberSelector,
    names: Mapping[str, object],
    cluster: _Cluster,
    of_nodes: bool,
    error: Callable[[str], None],
) -> Sequence[str]:
    if selector.exact_match is not None:
        name = selector.exact_match.get("name", "")
        return [name] if name and (name in names or (of_nodes and not cluster.known)) else []
    if selector.regex_match is not None:
        return _matching(selector.regex_match.get("pattern", ""), names, error)
    if not of_nodes:
        error("labelMatch is for nodes only")
        return []
    try:
        return cluster.index.select(NodeSelector.model_validate(selector.label_match))
    except ValidationError as problem:
        error(f"a labelMatch that can't be read: {problem.errors(include_url=False)[0]['msg']}")
        return []


def _matching(pattern: str, names: Iterable[str], error: Callable[[str], None]) -> Sequence[str]:
    try:
        return matching(pattern, names)
    except TopologyError as problem:
        error(problem.what)
        return []


def _names(hypernodes: Iterable[HyperNode], notes: Notes) -> dict[int, str]:
    """Tier names by number; one name stands for one tier."""
    names: dict[int, str] = {}
    for hypernode in hypernodes:
        tier, name = hypernode.spec.tier, hypernode.spec.tier_name
        if name and names.setdefault(tier, name) != name:
            notes.warn(f"tier {tier} is called {names[tier]} and {name}", f"{_KIND} {hypernode.name}")
    return names


def _tiers(names: Mapping[int, str], numbers: Iterable[int]) -> Tiers:
    tiers: dict[int, TierSpec] = {}
    taken: set[str] = set()
    for number in sorted(set(numbers)):
        name = names.get(number, "")
        name = name if name and name not in taken else f"tier-{number}"
        taken.add(name)
        tiers[number] = TierSpec(name=name)
    return tiers
