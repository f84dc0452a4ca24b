"""Label selectors over the nodes of a cluster, found through an index instead of a walk over all nodes."""

from collections.abc import Iterable, Mapping

from lws_volcano.topology.schema import NodeSelector, SelectorRequirement

__all__ = ["LabelIndex", "matches"]


def matches(selector: NodeSelector, labels: Mapping[str, str]) -> bool:
    """All labels and all expressions hold; the empty selector matches everything, as in Kubernetes."""
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        _holds(requirement, labels) for requirement in selector.match_expressions
    )


def _holds(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None


class LabelIndex:
    """Node names by label; an index of a key is made when the key is first asked for."""

    def __init__(self, labels: Mapping[str, Mapping[str, str]]) -> None:
        self.labels = labels
        self._by_key: dict[str, dict[str, list[str]]] = {}

    def select(self, selector: NodeSelector) -> list[str]:
        """Names of the nodes that match, in the order of the nodes."""
        return [name for name in self._candidates(selector) if matches(selector, self.labels[name])]

    def _candidates(self, selector: NodeSelector) -> Iterable[str]:
        """Few nodes that hold all that match: those with one of the wanted values of one key."""
        for key, value in selector.match_labels.items():
            return self._values(key).get(value, [])
        for requirement in selector.match_expressions:
            if requirement.operator == "In":
                values = self._values(requirement.key)
                return [name for value in dict.fromkeys(requirement.values) for name in values.get(value, [])]
        return self.labels

    def _values(self, key: str) -> Mapping[str, list[str]]:
        if key not in self._by_key:
            by_value: dict[str, list[str]] = {}
            for name, labels in self.labels.items():
                if key in labels:
                    by_value.setdefault(labels[key], []).append(name)
            self._by_key[key] = by_value
        return self._by_key[key]
