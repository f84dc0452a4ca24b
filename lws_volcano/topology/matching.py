"""Node names of a document against the nodes of a cluster.

A name has to be spelled exactly as the cluster spells it. With `stripDomain` the part before the first dot decides
where the whole does not, as long as only one node has it. A document for the whole site next to a cluster with a part
of it is normal: one summary, however many names are unknown.
"""

from collections.abc import Iterable

from lws_volcano.topology.findings import Report, examples
from lws_volcano.topology.hostlist import natural

__all__ = ["NodeNames"]


class NodeNames:
    """The cluster's nodes; None stands for no cluster, then every name is taken as it is."""

    def __init__(self, nodes: Iterable[str] | None, *, strip_domain: bool) -> None:
        self._known = None if nodes is None else dict.fromkeys(nodes)
        self._strip = strip_domain
        self._short: dict[str, list[str]] | None = None
        self._asked: dict[str, str | None] = {}

    def find(self, name: str) -> str | None:
        """Node of the cluster that a name in the document means, None if there is none."""
        if self._known is None:
            self._asked[name] = name
            return name
        found = name if name in self._known else self._stripped(name) if self._strip else None
        self._asked[name] = found
        return found

    def unplaced(self, placed: Iterable[str]) -> tuple[str, ...]:
        """Nodes of the cluster (without one: of the document) that are in no domain, sorted."""
        every = self._asked if self._known is None else self._known
        return tuple(sorted(every.keys() - set(placed), key=natural))

    def report_unknown(self, report: Report) -> None:
        """One warning for all names that the cluster does not have."""
        unknown = [name for name, found in self._asked.items() if found is None]
        if unknown:
            count = f"{len(unknown)} of {len(self._asked)} nodes in the document"
            report.warn(f"{count} are not in the cluster: {examples(unknown)}", mend=self._advice(unknown))

    def _stripped(self, name: str) -> str | None:
        if self._short is None:
            self._short = {}
            for known in self._known or ():
                self._short.setdefault(known.partition(".")[0], []).append(known)
        same = self._short.get(name.partition(".")[0], [])
        return same[0] if len(same) == 1 else None

    def _advice(self, unknown: list[str]) -> str:
        """The likeliest slip: other case, or long names against short ones."""
        lowered = {known.lower(): known for known in self._known or ()}
        for name in unknown:
            twin = lowered.get(name.lower())
            if twin is not None:
                return f"{name} differs from the node {twin} only in case"
        strippable = [] if self._strip else [name for name in unknown if self._stripped(name) is not None]
        if strippable:
            return f"{len(strippable)} would match without their domain ({examples(strippable)}): set stripDomain"
        return "normal when the document covers more than this cluster"
