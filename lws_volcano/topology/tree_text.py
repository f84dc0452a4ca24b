"""A topology as a tree for the terminal."""

from collections.abc import Iterator

from lws_volcano.topology.findings import examples
from lws_volcano.topology.hostlist import compress
from lws_volcano.topology.model import Topology
from lws_volcano.topology.rates import format_bandwidth

__all__ = ["tree_text"]

_MOST_LISTS = 4


def tree_text(topology: Topology) -> str:
    """Lines: tiers, then one line a domain with its nodes as host lists."""
    head = [f"{topology.name or 'topology'}: {len(topology.nodes)} nodes, {len(topology.domains)} domains"]
    head += [f"  tier {tier.number} {tier.name}: {format_bandwidth(tier.bandwidth)}" for tier in topology.tiers]
    body = [line for root in topology.roots for line in _branch(topology, root)]
    tail = [f"in no domain: {_lists(topology.unplaced)} ({len(topology.unplaced)})"] if topology.unplaced else []
    return "\n".join([*head, *body, *tail]) + "\n"


def _branch(topology: Topology, root: int) -> Iterator[str]:
    """A tree in depth-first order, with lines that show what belongs where."""
    todo: list[tuple[int, str, str]] = [(root, "", "")]
    while todo:
        index, lead, indent = todo.pop()
        yield lead + _label(topology, index)
        children = topology.children[index]
        own = [topology.nodes[place] for place in topology.attached[index]]
        if own and children:
            yield f"{indent}{'├─ '}{_lists(own)}"
        for child in reversed(children):
            last = child == children[-1]
            todo.append((child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))


def _label(topology: Topology, index: int) -> str:
    domain = topology.domains[index]
    count = "1 node" if len(domain) == 1 else f"{len(domain)} nodes"
    own = [topology.nodes[place] for place in topology.attached[index]]
    listed = f": {_lists(own)}" if own and not topology.children[index] else ""
    return f"{domain.name} ({domain.tier_name}, {count}){listed}"


def _lists(nodes: "tuple[str, ...] | list[str]") -> str:
    return examples(compress(nodes), _MOST_LISTS)
