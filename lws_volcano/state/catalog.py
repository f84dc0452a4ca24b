"""Which topology is in use: all that are given, resolved against the nodes, the last good one kept where one turns bad.

A ClusterTopology that is refused, or that turns empty (a file that is not filled yet), goes on as it last was, on the
nodes of now. What goes on in a running process only; one that starts with a bad topology has none of that name, and
leaves its HyperNodes as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lws_volcano.api.cluster import Node
from lws_volcano.state.topology_given import Given
from lws_volcano.topology.build import build
from lws_volcano.topology.file import Source
from lws_volcano.topology.findings import Finding, InvalidTopologyError, Severity
from lws_volcano.topology.merge import merge
from lws_volcano.topology.model import Topology

__all__ = ["Catalog", "Entry", "Resolution"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One ClusterTopology.

    Attributes
    ----------
    topology
        In use for it; None when there is none.
    refused
        What is given now is not good; `topology` is an earlier one.
    """

    given: Given
    topology: Topology | None
    findings: tuple[Finding, ...]
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    """What came of all of them; `topology` is None when none of them has a node of this cluster."""

    topology: Topology | None = None
    entries: Mapping[str, Entry] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels of the nodes that it was resolved against."""
    settled: bool = False
    """Nodes and ClusterTopologies were known: what is not among the entries does not exist."""


class Catalog:
    """Resolves, and remembers what was good. One call at a time."""

    def __init__(self) -> None:
        self._good: dict[str, tuple[Source, Topology]] = {}

    def resolve(self, given: Iterable[Given], nodes: Sequence[Node]) -> Resolution:
        """Build everything; O(n log n) in nodes and domains."""
        entries: dict[str, Entry] = {}
        for one in given:
            if one.name in entries:
                entries[one.name] = _shadowing(entries[one.name], one)
            else:
                entries[one.name] = self._entry(one, nodes)
        self._good = {name: good for name, good in self._good.items() if name in entries}
        used = [entry.topology for entry in entries.values() if entry.topology is not None and entry.topology.nodes]
        labels = {node.name: node.metadata.labels for node in nodes}
        return Resolution(merge(used) if used else None, entries, labels, settled=True)

    def _entry(self, given: Given, nodes: Sequence[Node]) -> Entry:
        built, findings = _build(given, nodes)
        if built is not None and built.nodes and given.source is not None:
            self._good[given.name] = (given.source, built)
            return Entry(given, built, findings)
        before = self._before(given, nodes)
        if before is not None:
            return Entry(given, before, findings, refused=True)
        return Entry(given, built, findings, refused=built is None)

    def _before(self, given: Given, nodes: Sequence[Node]) -> Topology | None:
        """The last good one, on the nodes of now if it can be."""
        if given.name not in self._good:
            return None
        source, topology = self._good[given.name]
        rebuilt, _ = _build(given._replace(source=source, findings=()), nodes)
        if rebuilt is None:
            return topology
        # Without a single node left it is no better than what is given now.
        return rebuilt if rebuilt.nodes else None


def _build(given: Given, nodes: Sequence[Node]) -> tuple[Topology | None, tuple[Finding, ...]]:
    if given.source is None:
        return None, given.findings
    document = given.source.document
    if document.metadata.name != given.name:
        document = document.model_copy(update={"metadata": document.metadata.model_copy(update={"name": given.name})})
    try:
        built = build(document, nodes, origin=given.source.origin)
    except InvalidTopologyError as error:
        return None, (*given.findings, *error.findings)
    return built, (*given.findings, *built.warnings)


def _shadowing(entry: Entry, other: Given) -> Entry:
    note = Finding(
        severity=Severity.WARNING,
        what=f"ClusterTopology {other.name} is given twice; {other.origin or 'the second'} is not used",
        mend="give one of them another name",
    )
    return replace(entry, findings=(*entry.findings, note))
