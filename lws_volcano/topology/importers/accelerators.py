"""Accelerator domains (NVLink) into a tree of switches: below a leaf, between two tiers, or not at all.

A domain with the members of one that is there already adds nothing; one that cuts across the switches is noted and
left out. The domains that are inserted at one place of the tree make one tier.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lws_volcano.topology.findings import examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.importers.document import Placed
from lws_volcano.topology.importers.notes import Notes

__all__ = ["insert"]

_Members = frozenset[str]


@dataclass(slots=True)
class _Tree:
    domains: dict[str, Placed]
    children: dict[str, list[str]] = field(default_factory=dict)
    members: dict[str, _Members] = field(default_factory=dict)
    home: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, domains: Iterable[Placed]) -> "_Tree":
        tree = cls({domain.name: domain for domain in domains})
        gathered: dict[str, set[str]] = {}
        for domain in sorted(tree.domains.values(), key=lambda d: d.tier):
            own = gathered.setdefault(domain.name, set())
            own.update(domain.nodes)
            tree.home.update(dict.fromkeys(domain.nodes, domain.name))
            tree.members[domain.name] = frozenset(own)
            if domain.parent is not None:
                tree.children.setdefault(domain.parent, []).append(domain.name)
                gathered.setdefault(domain.parent, set()).update(own)
        return tree

    def around(self, nodes: _Members) -> str | None:
        """The lowest domain that holds all of these nodes, none when there is no such domain."""
        at = self.home.get(next(iter(nodes)))
        while at is not None and not nodes <= self.members[at]:
            at = self.domains[at].parent
        return at


def insert(domains: Sequence[Placed], groups: Mapping[str, Iterable[str]], tier: str, notes: Notes) -> list[Placed]:
    """The domains with one more for each group of nodes that fits; `tier` is what to call their level in notes."""
    tree = _Tree.of(domains)
    loose = {name: frozenset(nodes) for name, nodes in groups.items()}
    fitting: dict[str, _Members] = {}
    crossing: list[str] = []
    for name in sorted(loose, key=natural):
        nodes = loose[name] & tree.home.keys() if tree.domains else loose[name]
        if not nodes or nodes == tree.members.get(tree.around(nodes) or ""):
            continue
        if _fits(nodes, tree):
            fitting[name] = nodes
        else:
            crossing.append(name)
    if crossing:
        notes.warn(f"{len(crossing)} {tier} cut across the switches and are left out: {examples(crossing)}")
    return _with(tree, fitting)


def _fits(nodes: _Members, tree: _Tree) -> bool:
    """The nodes are all straight in one domain, or are whole children of it."""
    around = tree.around(nodes)
    if around is None:
        return not tree.domains
    straight = nodes & frozenset(tree.domains[around].nodes)
    whole = [tree.members[child] for child in tree.children.get(around, ()) if tree.members[child] <= nodes]
    return nodes == straight.union(*whole)


def _with(tree: _Tree, groups: Mapping[str, _Members]) -> list[Placed]:
    heights = {name: _below(nodes, tree) for name, nodes in groups.items()}
    made_above = sorted(set(heights.values()))

    def shifted(number: int) -> int:
        return number + sum(height < number for height in made_above)

    result = {name: replace(domain, tier=shifted(domain.tier)) for name, domain in tree.domains.items()}
    for name, nodes in groups.items():
        around = tree.around(nodes)
        own = _free(name, result)
        straight = (
            tuple(node for node in tree.domains[around].nodes if node in nodes) if around else tuple(sorted(nodes))
        )
        result[own] = Placed(own, shifted(heights[name]) + 1, around, straight)
        if around is not None:
            kept = tuple(node for node in result[around].nodes if node not in nodes)
            result[around] = replace(result[around], nodes=kept)
        for child in tree.children.get(around or "", ()):
            if tree.members[child] <= nodes:
                result[child] = replace(result[child], parent=own)
    return list(result.values())


def _below(nodes: _Members, tree: _Tree) -> int:
    """Tier of the highest domain that becomes a child, 0 when only nodes do."""
    around = tree.around(nodes)
    children = tree.children.get(around or "", ())
    return max((tree.domains[child].tier for child in children if tree.members[child] <= nodes), default=0)


def _free(name: str, taken: Mapping[str, Placed]) -> str:
    while name in taken:
        name += ".accelerator"
    return name
