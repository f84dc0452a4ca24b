"""The depth-first layout: child domains by name, then the nodes straight in the domain by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lws_volcano.topology.drafts import Draft
from lws_volcano.topology.forest import Homes
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.model import ACROSS, Domain, Tier

__all__ = ["Layout", "arrange"]


@dataclass(slots=True)
class Layout:
    """The arrays of a `Topology` while they grow."""

    domains: list[Domain] = field(default_factory=list)
    tier_of: list[Tier] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    domain_of: list[int] = field(default_factory=list)

    def open(self, draft: Draft, parent: int, topology: str) -> int:
        """Begin a domain at the present place."""
        domain = Domain(
            name=draft.name,
            tier=draft.tier.number,
            tier_name=draft.tier.name,
            parent=parent,
            lo=len(self.nodes),
            hi=len(self.nodes),
            topology=topology,
        )
        self.domains.append(domain)
        self.tier_of.append(draft.tier)
        return len(self.domains) - 1

    def close(self, index: int, nodes: list[str]) -> None:
        """End a domain with the nodes that are straight in it."""
        self.nodes += sorted(nodes, key=natural)
        self.domain_of += [index] * len(nodes)
        self.domains[index] = replace(self.domains[index], hi=len(self.nodes))


def arrange(topology: str, drafts: Mapping[str, Draft], homes: Homes) -> Layout:
    """Lay linked drafts and the homes of nodes out in one order; no recursion, so depth has no limit."""
    children: dict[str | None, list[Draft]] = {}
    for draft in sorted(drafts.values(), key=lambda draft: natural(draft.name), reverse=True):
        children.setdefault(draft.parent, []).append(draft)
    attached: dict[str, list[str]] = {}
    for node, home in homes.items():
        attached.setdefault(home, []).append(node)

    layout = Layout()
    todo: list[tuple[Draft | None, int]] = [(root, ACROSS) for root in children.get(None, [])]
    while todo:
        begun, index = todo.pop()
        if begun is None:
            layout.close(index, attached.get(layout.domains[index].name, []))
        else:
            here = layout.open(begun, index, topology)
            todo.append((None, here))
            todo += [(child, here) for child in children.get(begun.name, [])]
    return layout
