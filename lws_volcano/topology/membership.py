"""HyperNodes as they stand in a cluster: which are ours, what they hold, where somebody else's overlap with ours."""

import re
from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from lws_volcano.api.names import MANAGER, NETWORK_TOPOLOGY_SOURCE
from lws_volcano.api.volcano import HyperNode, HyperNodeMember
from lws_volcano.topology.findings import Finding, Severity, examples
from lws_volcano.topology.hostlist import natural
from lws_volcano.topology.hypernodes import DesiredHyperNode, Member
from lws_volcano.topology.schema import NodeSelector
from lws_volcano.topology.selectors import LabelIndex

__all__ = ["holds", "is_ours", "overlaps", "same_content"]


def is_ours(hypernode: HyperNode) -> bool:
    """We wrote it: it has our source label."""
    return hypernode.metadata.labels.get(NETWORK_TOPOLOGY_SOURCE) == MANAGER


def same_content(found: HyperNode, wanted: DesiredHyperNode) -> bool:
    """Nothing that we write would change; the order of members does not count."""
    labels = found.metadata.labels
    view = HyperNode.parse(wanted.manifest())
    return (
        found.spec.tier == wanted.tier
        and found.spec.tier_name == wanted.tier_name
        and all(labels.get(key) == value for key, value in wanted.labels.items())
        and sorted(map(_canonical, found.spec.members)) == sorted(map(_canonical, view.spec.members))
    )


def _canonical(member: HyperNodeMember) -> str:
    return member.model_dump_json(exclude_none=True)


def holds(hypernode: HyperNode, index: LabelIndex | None, hypernodes: Iterable[str] = ()) -> frozenset[Member]:
    """What a HyperNode holds directly.

    Parameters
    ----------
    hypernode
        Any HyperNode.
    index
        Labels of the cluster's nodes; without it members by label, or by pattern, hold no node.
    hypernodes
        Names of the HyperNodes that a pattern may match. As in Volcano, a pattern matches anywhere in a name.
    """
    return frozenset(held for member in hypernode.spec.members for held in _held(member, index, hypernodes))


def _held(member: HyperNodeMember, index: LabelIndex | None, hypernodes: Iterable[str]) -> Iterator[Member]:
    selector = member.selector
    if selector.exact_match is not None:
        yield member.type, selector.exact_match.get("name", "")
    elif selector.regex_match is not None:
        names = hypernodes if member.type == "HyperNode" else index.labels if index is not None else ()
        pattern = _pattern(selector.regex_match.get("pattern", ""))
        yield from ((member.type, name) for name in names if pattern is not None and pattern.search(name))
    elif selector.label_match is not None and index is not None and member.type == "Node":
        wanted = _selector(selector.label_match)
        yield from (("Node", name) for name in (index.select(wanted) if wanted is not None else ()))


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error:
        return None


def _selector(raw: object) -> NodeSelector | None:
    try:
        return NodeSelector.model_validate(raw)
    except ValidationError:
        return None


def overlaps(
    foreign: Iterable[HyperNode], desired: Iterable[DesiredHyperNode], index: LabelIndex | None = None
) -> list[Finding]:
    """One warning for each HyperNode of somebody else that holds nodes, or HyperNodes, which ours hold too."""
    ours = {member: hypernode.name for hypernode in desired for member in hypernode.members}
    names = {("HyperNode", hypernode) for hypernode in ours.values()}
    found: list[Finding] = []
    for hypernode in sorted(foreign, key=lambda hypernode: natural(hypernode.name)):
        held = holds(hypernode, index, sorted(name for _, name in names))
        shared = sorted((member for member in held if member in ours or member in names), key=lambda m: natural(m[1]))
        if shared:
            source = hypernode.metadata.labels.get(NETWORK_TOPOLOGY_SOURCE, "")
            by = f" (written by {source})" if source else ""
            what = f"holds {len(shared)} members that ours hold too: {examples(name for _, name in shared)}"
            found.append(
                Finding(
                    severity=Severity.WARNING,
                    what=f"{what}{by}",
                    where=f"HyperNode {hypernode.name}",
                    mend="have one writer: delete it, or have its HyperNodes read instead of writing our own",
                )
            )
    return found
