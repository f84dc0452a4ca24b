"""Label selectors, node selector terms, tolerations."""

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["labels_match", "term_matches", "tolerates"]

Json = Mapping[str, Any]


def expression_matches(expression: Json, labels: Mapping[str, str]) -> bool:
    """One expression of a selector."""
    key, operator = expression["key"], expression["operator"]
    values: list[str] = expression.get("values") or []
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    if key not in labels or not labels[key].lstrip("-").isdigit():
        return False
    number, bound = int(labels[key]), int(values[0])
    return number > bound if operator == "Gt" else number < bound


def labels_match(selector: Json | None, labels: Mapping[str, str]) -> bool:
    """A label selector; None matches nothing."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        expression_matches(one, labels) for one in selector.get("matchExpressions") or ()
    )


def term_matches(term: Json, name: str, labels: Mapping[str, str]) -> bool:
    """A node selector term; an empty one matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    named = {"metadata.name": name}
    return all(expression_matches(one, labels) for one in expressions) and all(
        expression_matches(one, named) for one in fields
    )


def tolerates(tolerations: Iterable[Json], taint: Json) -> bool:
    """One of the tolerations covers the taint."""
    return any(_covers(one, taint) for one in tolerations)


def _covers(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")
