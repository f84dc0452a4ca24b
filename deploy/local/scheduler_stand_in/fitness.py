"""Which nodes a task may go to, and which it likes best. Answers are kept for tasks of the same constraints."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from deploy.local.scheduler_stand_in.model import NodeRoom, Task
from deploy.local.scheduler_stand_in.selectors import labels_match, term_matches, tolerates

__all__ = ["Fitness"]

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
TOP: Final = 100
Json = Mapping[str, Any]


class Fitness:
    """Static fitness of nodes for tasks, within one session.

    Parameters
    ----------
    nodes : mapping
        All nodes by name.
    bound : list of Task
        Pods on nodes, which pod affinity looks at.
    """

    def __init__(self, nodes: Mapping[str, NodeRoom], bound: list[Task]) -> None:
        self._nodes = nodes
        self._there: list[tuple[Task, str]] = []
        self._repelling: list[tuple[Task, str]] = []
        self.remember([(task, task.node) for task in bound])
        self._allowed: dict[str, frozenset[str]] = {}
        self._weights: dict[str, dict[str, int]] = {}

    def remember(self, placed: Iterable[tuple[Task, str]]) -> None:
        """Tasks that this session has placed for good."""
        for one in placed:
            self._there.append(one)
            if _repels(one[0]):
                self._repelling.append(one)

    def allowed(self, task: Task) -> frozenset[str]:
        """Nodes that the task's selector, node affinity and tolerations let it on."""
        spec = task.spec
        asked = [spec.get("nodeSelector"), _node_affinity(spec).get(REQUIRED), spec.get("tolerations")]
        signature = json.dumps(asked, sort_keys=True)
        if signature not in self._allowed:
            self._allowed[signature] = frozenset(
                name for name, node in self._nodes.items() if node.usable and _may(spec, node)
            )
        return self._allowed[signature]

    def weight(self, task: Task, node: str) -> int:
        """Sum of the weights of the preferred terms that match."""
        terms = _node_affinity(task.spec).get(PREFERRED)
        if not terms:
            return 0
        signature = json.dumps(terms, sort_keys=True)
        if signature not in self._weights:
            self._weights[signature] = {name: _sum(terms, one) for name, one in self._nodes.items()}
        return self._weights[signature][node]

    def scores(self, task: Task, candidates: Iterable[str]) -> dict[str, int]:
        """Score of each candidate: 0 to 100, relative to the best of them, whole numbers."""
        weights = {name: self.weight(task, name) for name in candidates}
        best = max(weights.values(), default=0)
        return {name: TOP * weight // best if best else 0 for name, weight in weights.items()}

    def apart(self, task: Task, node: str, placed: Iterable[tuple[Task, str]]) -> bool:
        """Required pod affinity and anti-affinity (both ways) let it on the node, seen with tasks just placed."""
        affinity = task.spec.get("affinity") or {}
        wanted = (affinity.get("podAffinity") or {}).get(REQUIRED) or ()
        unwanted = (affinity.get("podAntiAffinity") or {}).get(REQUIRED) or ()
        others = [*self._there, *placed] if wanted or unwanted else []
        if not all(self._together(task, node, term, others) for term in wanted):
            return False
        if any(_selects(term, one, task) and self._same_domain(at, node, term["topologyKey"])
               for term in unwanted for one, at in others):  # fmt: skip
            return False
        return not self._unwelcome(task, node, placed)

    def _together(self, task: Task, node: str, term: Json, others: list[tuple[Task, str]]) -> bool:
        matching = [(one, at) for one, at in others if _selects(term, one, task)]
        if not matching:
            return _selects(term, task, task)
        return any(self._same_domain(at, node, term["topologyKey"]) for _, at in matching)

    def _unwelcome(self, task: Task, node: str, placed: Iterable[tuple[Task, str]]) -> bool:
        """A pod that is there keeps this one away."""
        return any(
            _selects(term, task, one) and self._same_domain(at, node, term["topologyKey"])
            for one, at in (*self._repelling, *placed)
            for term in _repels(one)
        )

    def _same_domain(self, left: str, right: str, key: str) -> bool:
        if left not in self._nodes or right not in self._nodes:
            return False
        value = self._nodes[left].labels.get(key)
        return value is not None and value == self._nodes[right].labels.get(key)


def _may(spec: Json, node: NodeRoom) -> bool:
    selector = spec.get("nodeSelector") or {}
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    required = _node_affinity(spec).get(REQUIRED)
    if required and not any(term_matches(one, node.name, node.labels) for one in required["nodeSelectorTerms"]):
        return False
    tolerations = spec.get("tolerations") or ()
    return all(tolerates(tolerations, one) for one in node.taints if one["effect"] in {"NoSchedule", "NoExecute"})


def _repels(task: Task) -> list[Json]:
    """Its required anti-affinity terms."""
    return ((task.spec.get("affinity") or {}).get("podAntiAffinity") or {}).get(REQUIRED) or []


def _node_affinity(spec: Json) -> Json:
    return (spec.get("affinity") or {}).get("nodeAffinity") or {}


def _sum(terms: Iterable[Json], node: NodeRoom) -> int:
    return sum(one["weight"] for one in terms if term_matches(one["preference"], node.name, node.labels))


def _selects(term: Json, one: Task, of: Task) -> bool:
    """The term of pod `of` selects pod `one`; without namespaces it means its own."""
    own = [of.raw["metadata"]["namespace"]]
    in_namespace = one.raw["metadata"]["namespace"] in (term.get("namespaces") or own)
    return in_namespace and labels_match(term.get("labelSelector"), one.labels)
