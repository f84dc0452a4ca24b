"""The HyperNodes that stand for a topology in Volcano.

Volcano wants even trees: a node that hangs straight on a spine would be no candidate for anything. So each node, and
domain, that is attached above the tier next to it gets HyperNodes of its own in between, one per node: such nodes meet
where the document says, not in a rack that does not exist. Domains without nodes get no HyperNode.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.api.names import HYPERNODE_API, MANAGER, NETWORK_TOPOLOGY_SOURCE, TOPOLOGY
from lws_volcano.topology.hypernode_names import label_value, unique_names
from lws_volcano.topology.model import Topology
from lws_volcano.topology.schema import NodeSelector

__all__ = ["EXACT_LIMIT", "DesiredHyperNode", "Member", "desired_hypernodes"]

EXACT_LIMIT: Final = 200
"""Node members that are listed one by one; longer lists become a label selector where one says the same."""

Member = tuple[str, str]
"""(`Node` or `HyperNode`, name)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredHyperNode:
    """A HyperNode as it should be.

    Attributes
    ----------
    topology
        Name of the ClusterTopology it comes from.
    members
        What it holds directly, in order: either nodes or HyperNodes.
    selector
        Labels that say the same as the node members and are written instead of them.
    """

    name: str
    topology: str
    tier: int
    tier_name: str
    members: tuple[Member, ...]
    selector: NodeSelector | None = None

    @property
    def labels(self) -> dict[str, str]:
        """Labels by which we know our own."""
        return {NETWORK_TOPOLOGY_SOURCE: MANAGER, TOPOLOGY: label_value(self.topology)}

    def manifest(self) -> dict[str, Any]:
        """The object to apply."""
        spec: dict[str, Any] = {"tier": self.tier}
        if self.tier_name:
            spec["tierName"] = self.tier_name
        spec["members"] = self._written_members()
        metadata = {"name": self.name, "labels": self.labels}
        return {"apiVersion": HYPERNODE_API, "kind": "HyperNode", "metadata": metadata, "spec": spec}

    def _written_members(self) -> list[dict[str, Any]]:
        if self.selector is not None:
            match = self.selector.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            return [{"type": "Node", "selector": {"labelMatch": match}}]
        return [{"type": kind, "selector": {"exactMatch": {"name": name}}} for kind, name in self.members]


@dataclass(slots=True)
class _Draft:
    """A HyperNode whose name, and those of its children, are not settled yet; `identity` tells it from all others."""

    identity: tuple[str, ...]
    readable: str
    topology: str
    tier: int
    children: list["_Draft"]
    nodes: tuple[str, ...] = ()
    selector: NodeSelector | None = None


def desired_hypernodes(
    topology: Topology, taken: Collection[str] = (), exact_limit: int = EXACT_LIMIT
) -> tuple[DesiredHyperNode, ...]:
    """The HyperNodes of a topology, closest tiers first.

    Parameters
    ----------
    topology
        What the network is like.
    taken
        Names of HyperNodes that are not ours: we choose others.
    exact_limit
        See `EXACT_LIMIT`.
    """
    drafts = list(_drafts(topology, exact_limit))
    names = unique_names(((draft.readable, "/".join(draft.identity)) for draft in drafts), taken)
    name_of = {draft.identity: name for draft, name in zip(drafts, names, strict=True)}
    tier_names = _tier_names(topology)
    found = [
        DesiredHyperNode(
            name=name_of[draft.identity],
            topology=draft.topology,
            tier=draft.tier,
            tier_name=tier_names.get((draft.topology, draft.tier), ""),
            members=tuple(("Node", node) for node in draft.nodes)
            or tuple(("HyperNode", name_of[child.identity]) for child in draft.children),
            selector=draft.selector,
        )
        for draft in drafts
    ]
    return tuple(sorted(found, key=lambda hypernode: hypernode.tier))


def _tier_names(topology: Topology) -> dict[tuple[str, int], str]:
    """Name of each tier; left out where one name means two numbers, because Volcano knows one number for a name."""
    names = {(domain.topology, domain.tier): domain.tier_name for domain in topology.domains}
    numbers: dict[str, set[int]] = {}
    for (_, number), name in names.items():
        numbers.setdefault(name, set()).add(number)
    return {key: name for key, name in names.items() if len(numbers[name]) == 1}


def _levels(topology: Topology) -> Mapping[str, list[int]]:
    """ClusterTopology -> tier numbers of its domains that have nodes, lowest first."""
    tiers: dict[str, set[int]] = {}
    for domain in topology.domains:
        if len(domain):
            tiers.setdefault(domain.topology, set()).add(domain.tier)
    return {name: sorted(numbers) for name, numbers in tiers.items()}


def _drafts(topology: Topology, exact_limit: int) -> Iterator[_Draft]:
    """All drafts, children before parents, in the order of the places."""
    levels = _levels(topology)
    made: dict[int, _Draft] = {}
    for index in range(len(topology.domains) - 1, -1, -1):
        domain = topology.domains[index]
        if not len(domain):
            continue
        below = [tier for tier in levels[domain.topology] if tier < domain.tier]
        identity = ("domain", domain.topology, domain.name)
        # a domain name that `merge` made longer is the same HyperNode as before
        own_name = domain.name.removeprefix(f"{domain.topology}.")
        draft = _Draft(identity, _readable(domain.topology, own_name), domain.topology, domain.tier, [])
        own = tuple(topology.nodes[place] for place in topology.attached[index])
        if below:
            draft.children = [_padded(made[child], below) for child in topology.children[index] if child in made]
            draft.children += [_padded(_alone(node, domain.topology, below[0]), below) for node in own]
        else:
            draft.nodes = own
            draft.selector = topology.selectors.get(index) if len(own) > exact_limit else None
        made[index] = draft
    for root in topology.roots:
        if root in made:
            yield from _bottom_up(made[root])


def _alone(node: str, topology: str, tier: int) -> _Draft:
    """The lowest HyperNode of a node that shares it with no other."""
    return _Draft(
        ("node", topology, node, str(tier)), _readable(topology, node, f"tier-{tier}"), topology, tier, [], (node,)
    )


def _padded(draft: _Draft, below: list[int]) -> _Draft:
    """The draft inside one HyperNode for each tier between it and its parent."""
    inner = draft
    for tier in below:
        if tier > inner.tier:
            readable = f"{draft.readable.removesuffix(f'.tier-{draft.tier}')}.tier-{tier}"
            inner = _Draft((*draft.identity, f"above-{tier}"), readable, draft.topology, tier, [inner])
    return inner


def _readable(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _bottom_up(root: _Draft) -> Iterator[_Draft]:
    """Children before parents; no recursion, so depth has no limit."""
    todo: list[tuple[_Draft, bool]] = [(root, False)]
    while todo:
        draft, opened = todo.pop()
        if opened:
            yield draft
        else:
            todo.append((draft, True))
            todo += [(child, False) for child in reversed(draft.children)]
