"""What Slurm's topology.conf and topology.yaml both say, as domains: a tree of switches, blocks and their aggregates.

Source: topology.conf(5), topology.yaml(5) and the topology guide of Slurm 25.05.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Final

from lws_volcano.topology.importers.bandwidths import by_tier, rated
from lws_volcano.topology.importers.cluster_names import to_cluster
from lws_volcano.topology.importers.document import Imported, Placed, Tiers, topology_document
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.importers.source import Source
from lws_volcano.topology.importers.switches import Switch, switch_tree
from lws_volcano.topology.schema import TierSpec

__all__ = ["SlurmTopology", "imported"]

_BLOCK: Final = "block"


@dataclass(slots=True)
class SlurmTopology:
    """One topology as written.

    Attributes
    ----------
    name
        Its name, or what to call it.
    switches, blocks
        In the order of the file, which for blocks says which of them are neighbours.
    sizes
        Block sizes in nodes: the planning size of a block, then those of the aggregates.
    sizes_where
        File and line of the sizes.
    """

    name: str
    switches: list[Switch] = field(default_factory=list)
    blocks: list[Switch] = field(default_factory=list)
    sizes: tuple[int, ...] = ()
    sizes_where: str = ""


def imported(topology: SlurmTopology, source: Source, notes: Notes) -> Imported:
    """The document of a Slurm topology."""
    notes.check()
    tiers: Callable[[Iterable[int]], Tiers]
    if topology.switches and topology.blocks:
        domains, tiers = _tree_over_blocks(topology, source, notes)
    elif topology.blocks:
        domains, tiers = _blocks(topology, source, notes)
    else:
        domains = switch_tree(topology.switches, notes, source.ignore)
        tiers = rated(_speeds(domains, topology.switches))
    domains = to_cluster(domains, source.nodes, notes)
    document = topology_document(topology.name, domains, notes, tiers)
    return Imported(document, notes.settle())


def _speeds(domains: Iterable[Placed], switches: Iterable[Switch]) -> dict[int, Fraction]:
    """Speed of the links at each tier, as far as every switch of it has one."""
    speed_of = {switch.name: switch.speed for switch in switches}
    found: dict[int, list[Fraction | None]] = {}
    for domain in domains:
        found.setdefault(domain.tier, []).append(speed_of.get(domain.name))
    return by_tier(found)


def _blocks(
    topology: SlurmTopology, source: Source, notes: Notes
) -> tuple[list[Placed], Callable[[Iterable[int]], Tiers]]:
    leaves = switch_tree(topology.blocks, notes, source.ignore)
    if any(domain.tier > 1 for domain in leaves):
        return leaves, partial(_tiers, {})
    order = {block.name: at for at, block in enumerate(topology.blocks)}
    ranked = sorted(leaves, key=lambda block: order[block.name])
    planned = _counts(topology, ranked, notes)
    domains: list[Placed] = []
    names: dict[int, str] = {}
    for tier, (size, count) in enumerate(planned, start=2):
        group = [ranked[at : at + count] for at in range(0, len(ranked), count)]
        for members in group:
            above = _aggregate(members, size, {*order, *(domain.name for domain in domains)})
            domains.extend(replace(member, parent=above) for member in members)
        ranked = [Placed(domain.parent or "", tier, None) for domain in _first_of_each(domains, tier - 1)]
        names[tier] = f"aggregate-{size}"
    return [*domains, *ranked], partial(_tiers, names)


def _aggregate(members: Sequence[Placed], size: int, taken: set[str]) -> str:
    name = f"{members[0].name}-aggregate-{size}"
    while name in taken:
        name += "x"
    return name


def _first_of_each(domains: Iterable[Placed], tier: int) -> list[Placed]:
    """One domain for each parent, in order."""
    return list({domain.parent: domain for domain in domains if domain.tier == tier}.values())


def _counts(topology: SlurmTopology, blocks: Sequence[Placed], notes: Notes) -> list[tuple[int, int]]:
    """Size of each aggregate and how many domains of the tier below it joins; aggregates of one are no tier."""
    if not topology.sizes:
        return []
    base, *further = topology.sizes
    small = [block.name for block in blocks if len(block.nodes) < base]
    if small:
        notes.warn(
            f"{len(small)} blocks have fewer nodes than the block size {base}, first {small[0]}", topology.sizes_where
        )
    counts: list[tuple[int, int]] = []
    below = 1
    for size in further:
        blocks_each = size // base
        power_of_two = blocks_each & (blocks_each - 1) == 0
        if size % base or blocks_each <= below or blocks_each % below:
            notes.error(
                f"block size {size} is not made of whole blocks or aggregates of the size before it",
                topology.sizes_where,
                "each size is the one before it times a power of two",
            )
            continue
        if not power_of_two:
            notes.warn(f"block size {size} is {blocks_each} times {base}, no power of two", topology.sizes_where)
        counts.append((size, blocks_each // below))
        below = blocks_each
        if blocks_each >= len(blocks):
            break
    return counts


def _tiers(names: Mapping[int, str], numbers: Iterable[int]) -> Tiers:
    return {number: TierSpec(name=_BLOCK if number == 1 else names.get(number, f"tier-{number}")) for number in numbers}


def _tree_over_blocks(
    topology: SlurmTopology, source: Source, notes: Notes
) -> tuple[list[Placed], Callable[[Iterable[int]], Tiers]]:
    """Blocks inside leaf switches: the blocks become the lowest tier where each is inside one leaf."""
    leaves = {node: switch.name for switch in topology.switches for node in switch.nodes}
    nested: dict[str, list[Switch]] = {}
    for block in topology.blocks:
        above = {leaves.get(node, "") for node in block.nodes}
        if len(above) != 1:
            notes.error(
                f"block {block.name} is inside no single switch",
                block.where,
                "give the switches and the blocks in a file each",
            )
            continue
        nested.setdefault(above.pop(), []).append(block)
    names = {switch.name for switch in topology.switches}
    renamed = {block.name: f"{block.name}-{_BLOCK}" if block.name in names else block.name for block in topology.blocks}
    switches = [_over(switch, nested.get(switch.name, ()), renamed) for switch in topology.switches]
    blocks = [replace(block, name=renamed[block.name]) for group in nested.values() for block in group]
    tree = switch_tree([*switches, *blocks], notes, source.ignore)
    return tree, partial(_tiers, {})


def _over(switch: Switch, blocks: Sequence[Switch], renamed: Mapping[str, str]) -> Switch:
    inside = {node for block in blocks for node in block.nodes}
    return replace(
        switch,
        nodes=tuple(node for node in switch.nodes if node not in inside),
        children=(*switch.children, *(renamed[block.name] for block in blocks)),
    )
