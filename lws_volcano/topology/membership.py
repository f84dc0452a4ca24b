"""HyperNodes as they stand in a cluster: which are ours, and what they hold."""

from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from lws_volcano.api.errors import TopologyError
from lws_volcano.api.names import MANAGER, NETWORK_TOPOLOGY_SOURCE
from lws_volcano.api.volcano import HyperNode, HyperNodeMember
from lws_volcano.topology.hypernodes import DesiredHyperNode, Member
from lws_volcano.topology.patterns import matching
from lws_volcano.topology.schema import NodeSelector
from lws_volcano.topology.selectors import LabelIndex

__all__ = ["holds", "is_ours", "same_content"]


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
        Names of the HyperNodes that a pattern may match. As in Volcano, a pattern matches anywhere in a name; one that
        is refused matches nothing (`strangers.refused_patterns` tells).
    """
    return frozenset(held for member in hypernode.spec.members for held in _held(member, index, hypernodes))


def _held(member: HyperNodeMember, index: LabelIndex | None, hypernodes: Iterable[str]) -> Iterator[Member]:
    selector = member.selector
    if selector.exact_match is not None:
        yield member.type, selector.exact_match.get("name", "")
    elif selector.regex_match is not None:
        names = hypernodes if member.type == "HyperNode" else index.labels if index is not None else ()
        yield from ((member.type, name) for name in _matching(selector.regex_match.get("pattern", ""), names))
    elif selector.label_match is not None and index is not None and member.type == "Node":
        wanted = _selector(selector.label_match)
        yield from (("Node", name) for name in (index.select(wanted) if wanted is not None else ()))


def _matching(pattern: str, names: Iterable[str]) -> list[str]:
    try:
        return matching(pattern, names)
    except TopologyError:
        return []


def _selector(raw: object) -> NodeSelector | None:
    try:
        return NodeSelector.model_validate(raw)
    except ValidationError:
        return None
