"""What a scheduler would exclude whatever room there is: readiness, cordons, taints, selectors, affinity.

Source: k8s.io/component-helpers/scheduling/corev1 (node affinity, tolerations), kubernetes/pkg/scheduler plugins
nodeunschedulable, tainttoleration, nodeaffinity. A node whose Ready condition is anything but True is out; one without
any Ready condition counts as ready (files written by hand).
"""

from collections.abc import Mapping
from typing import Final

from lws_volcano.api.cluster import Node, Taint
from lws_volcano.api.pods import Toleration
from lws_volcano.placement.shape import Expression, Shape, Term

__all__ = ["excluded", "matches", "tolerates"]

_CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_NAME_FIELD: Final = "metadata.name"


def excluded(node: Node, shape: Shape) -> str:
    """Why no pod of this shape may go on the node, in a few words; empty when it may.

    Examples
    --------
    >>> excluded(Node.parse({"spec": {"unschedulable": True}}), Shape())
    'cordoned'
    """
    if not node.ready:
        return "not ready"
    if node.spec.unschedulable and not tolerates(shape.tolerations, _CORDON):
        return "cordoned"
    taint = _untolerated(node.spec.taints, shape.tolerations)
    if taint is not None:
        return f"taint {taint.key}"
    if not _selected(node.metadata.labels, shape.node_selector):
        return "node selector"
    if shape.affinity is not None and not any(matches(term, node) for term in shape.affinity):
        return "node affinity"
    return ""


def _selected(labels: Mapping[str, str], wanted: tuple[tuple[str, str], ...]) -> bool:
    return all(labels.get(key) == value for key, value in wanted)


def _untolerated(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> Taint | None:
    hard = (taint for taint in taints if taint.effect in {"NoSchedule", "NoExecute"})
    return next((taint for taint in hard if not tolerates(tolerations, taint)), None)


def tolerates(tolerations: tuple[Toleration, ...], taint: Taint) -> bool:
    """One of the tolerations puts up with the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key != taint.key and (toleration.key or toleration.operator != "Exists"):
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in {"Gt", "Lt"}:
        return _numbers(toleration.operator, taint.value, toleration.value)
    return toleration.value == taint.value


def matches(term: Term, node: Node) -> bool:
    """All expressions of the term hold; an empty term matches nothing."""
    expressions, fields = term
    if not expressions and not fields:
        return False
    names = {_NAME_FIELD: node.name}
    return all(_holds(e, node.metadata.labels) for e in expressions) and all(_holds(f, names) for f in fields)


def _holds(expression: Expression, labels: Mapping[str, str]) -> bool:
    key, operator, values = expression
    value = labels.get(key)
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return value is not None and len(values) == 1 and _numbers(operator, value, values[0])
    return False


def _numbers(operator: str, left: str, right: str) -> bool:
    try:
        a, b = int(left), int(right)
    except ValueError:
        return False
    return a > b if operator == "Gt" else a < b
