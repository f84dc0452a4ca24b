"""What topograph's graph and models both come to: switches from their chains, and accelerator domains inside them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from lws_volcano.topology.importers.accelerators import insert
from lws_volcano.topology.importers.cluster_names import to_cluster
from lws_volcano.topology.importers.document import Imported, Tiers, fabric_tiers, topology_document
from lws_volcano.topology.importers.known_labels import CLIQUE
from lws_volcano.topology.importers.nesting import speaking
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.switches import Switch, switch_tree
from lws_volcano.topology.schema import TierSpec

__all__ = ["DOMAINS", "SUB_DOMAINS", "accelerator", "imported"]

DOMAINS: Final = (
    "accelerator.topograph.run/domain",
    "xclr.topology.nvidia.com/domain",
    "network.topology.nvidia.com/accelerator",
    "accelerated.topology.nvidia.com/level-0",
    "accelerator.topology.test/domain",
    CLIQUE,
)
SUB_DOMAINS: Final = (
    "accelerator.topograph.run/sub-domain",
    "xclr.topology.nvidia.com/sub-domain",
    "accelerator.topology.test/sub-domain",
)


def accelerator(labels: Mapping[str, str], keys: Iterable[str]) -> str:
    """Value of the first of these keys that says something, empty without one."""
    return next((labels[key] for key in keys if speaking(labels.get(key))), "")


def imported(
    name: str,
    switches: Sequence[Switch],
    groups: Sequence[Mapping[str, Iterable[str]]],
    source: Source,
    notes: Notes,
) -> Imported:
    """The document of switches and accelerator domains; `groups` are the nodes by domain, outermost level first."""
    domains = switch_tree(switches, notes, source.ignore)
    before = {domain.name for domain in domains}
    for members in groups:
        domains = insert(domains, members, "accelerator domains", notes)
    fabric = sorted({domain.tier for domain in domains if domain.name in before})
    domains = to_cluster(domains, source.nodes, notes)
    document = topology_document(name, domains, notes, partial(_tiers, fabric))
    return Imported(document, notes.settle())


def _tiers(fabric: Sequence[int], numbers: Iterable[int]) -> Tiers:
    """Tiers that hold a switch are named as such, the others after the accelerators."""
    wanted = sorted(set(numbers))
    named = fabric_tiers(number for number in wanted if number in fabric)
    others = [number for number in wanted if number not in fabric]
    words = [f"accelerator-{at}" if len(others) > 1 else "accelerator" for at in range(1, len(others) + 1)]
    return {**named, **{number: TierSpec(name=word) for number, word in zip(others, words, strict=True)}}
