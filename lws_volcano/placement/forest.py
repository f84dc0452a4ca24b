"""The trees as planning walks them: levels instead of tier numbers, nodes without a domain at the end.

Tree nodes keep their place in the topology's depth-first order; every other node gets a place behind them.
"""

from functools import cached_property

from lws_volcano.topology.model import ACROSS, Topology

__all__ = ["Forest"]


class Forest:
    """Domains and places.

    Attributes
    ----------
    levels
        Distinct tier numbers, closest first; a *level* is an index into it.
    level_of
        Domain index -> level.
    end
        Domain index -> first domain index behind its subtree.
    names
        Place -> node name.
    tree_size
        Places below it are in a tree, the rest are loose.
    """

    def __init__(self, topology: Topology | None) -> None:
        self.topology = topology
        self.domains = topology.domains if topology else ()
        self.parent = topology.parent if topology else ()
        self.levels = tuple(sorted({domain.tier for domain in self.domains}))
        index = {number: level for level, number in enumerate(self.levels)}
        self.level_of = tuple(index[domain.tier] for domain in self.domains)
        self.children = topology.children if topology else ()
        self.attached = topology.attached if topology else ()
        self.roots = topology.roots if topology else ()
        self.names: list[str] = list(topology.nodes) if topology else []
        self.tree_size = len(self.names)
        self.place_of: dict[str, int] = {name: place for place, name in enumerate(self.names)}

    @cached_property
    def end(self) -> tuple[int, ...]:
        """Domain index -> first index behind its subtree (domains are listed depth-first)."""
        ends = list(range(1, len(self.domains) + 1))
        for index in range(len(self.domains) - 1, -1, -1):
            if self.parent[index] != ACROSS:
                ends[self.parent[index]] = max(ends[self.parent[index]], ends[index])
        return tuple(ends)

    @cached_property
    def above(self) -> tuple[tuple[int, ...], ...]:
        """Domain index -> itself and all above it, upwards."""
        chains: list[tuple[int, ...]] = []
        for index, parent in enumerate(self.parent):
            chains.append((index,) if parent == ACROSS else (index, *chains[parent]))
        return tuple(chains)

    @cached_property
    def high(self) -> tuple[int, ...]:
        """Places of nodes attached above the lowest level: each is alone in its missing lower domains."""
        return tuple(p for p in range(self.tree_size) if self.level_of[self.home(p)] > 0)

    def place(self, name: str) -> int:
        """Place of a node; one that is in no tree gets the next loose place."""
        place = self.place_of.get(name)
        if place is None:
            place = self.place_of[name] = len(self.names)
            self.names.append(name)
        return place

    def loose(self, place: int) -> bool:
        """The node is in no domain."""
        return place >= self.tree_size

    def home(self, place: int) -> int:
        """Lowest domain of a place, `ACROSS` for a loose one."""
        if self.topology is None or place >= self.tree_size:
            return ACROSS
        return self.topology.domain_of[place]

    def chain(self, place: int) -> tuple[int, ...]:
        """Domains above a place, upwards."""
        home = self.home(place)
        return () if home == ACROSS else self.above[home]

    def holds(self, domain: int, place: int) -> bool:
        """The place is in the domain."""
        return self.domains[domain].lo <= place < self.domains[domain].hi

    def inside(self, domain: int, within: int) -> bool:
        """`domain` is `within` or below it; everything is within `ACROSS`."""
        return within == ACROSS or within <= domain < self.end[within]

    def meeting(self, left: int, right: int) -> int:
        """Lowest domain that holds both places, `ACROSS` if there is none."""
        if self.topology is None or left >= self.tree_size or right >= self.tree_size:
            return ACROSS
        return self.topology.meeting(left, right)

    def common(self, places: list[int]) -> int:
        """Lowest domain that holds all these places."""
        if not places or self.topology is None or max(places) >= self.tree_size:
            return ACROSS
        # places of a domain are contiguous: the outermost two decide
        return self.topology.meeting(min(places), max(places))

    def allowed_level(self, tier: int | None) -> int:
        """Highest level whose tier number is at most `tier` (None: the top), -1 when even the lowest is above it."""
        if tier is None:
            return len(self.levels) - 1
        return sum(number <= tier for number in self.levels) - 1
