"""What a scheduler looks at when it decides whether a pod fits on a node, as one hashable value.

Pods of one template have equal shapes, so room is counted once a shape and not once a pod.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lws_volcano.api.names import HOSTNAME
from lws_volcano.api.pods import NodeSelector, PodSpec, PodTemplate, Requirement, Toleration
from lws_volcano.api.requests import pod_requests

__all__ = ["Claim", "Expression", "Shape", "Term", "clash", "pod_shape", "template_shape"]

Expression = tuple[str, str, tuple[str, ...]]
"""Key, operator, values."""

Term = tuple[tuple[Expression, ...], tuple[Expression, ...]]
"""Expressions over labels, expressions over fields: all must hold."""

Claim = tuple[str, str, int | str]
"""Something a node can give only once: (host IP, protocol, host port), or an anti-affinity of a kind with itself."""

_ANY_ADDRESS: Final = {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not bound
_APART: Final = "anti-affinity"


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Requests and constraints of a pod.

    Attributes
    ----------
    requests
        (resource, nano units), sorted, without zeros and without the one slot of `pods`.
    node_selector
        Label pairs that the node must have.
    affinity
        Required node affinity: one of the terms must hold; None without any.
    tolerations
        As in the pod.
    claims
        What two pods on one node must not both have.
    """

    requests: tuple[tuple[str, int], ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[Term, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    claims: frozenset[Claim] = frozenset()
    _identity: tuple[Any, ...] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tolerations = tuple((t.key, t.operator, t.value, t.effect) for t in self.tolerations)
        identity = (self.requests, self.node_selector, self.affinity, tolerations, self.claims)
        object.__setattr__(self, "_identity", identity)
        object.__setattr__(self, "_hash", hash(identity))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Shape) and self._hash == other._hash and self._identity == other._identity

    def apart_from(self, other: "Shape") -> bool:
        """No node can hold one of each."""
        return any(clash(mine, theirs) for mine in self.claims for theirs in other.claims)


def clash(left: Claim, right: Claim) -> bool:
    """Two claims exclude each other on one node.

    Examples
    --------
    >>> clash(("", "TCP", 80), ("10.0.0.1", "TCP", 80)), clash(("10.0.0.2", "TCP", 80), ("10.0.0.1", "TCP", 80))
    (True, False)
    """
    if left[1:] != right[1:]:
        return False
    return left[0] == right[0] or bool({left[0], right[0]} & _ANY_ADDRESS)


def template_shape(template: PodTemplate, overhead: Mapping[str, str | int | float] | None = None) -> Shape:
    """Shape of the pods that a template makes.

    Raises
    ------
    QuantityError
        A request that Kubernetes would refuse.
    """
    return pod_shape(template.spec, template.metadata.labels, overhead)


def pod_shape(
    spec: PodSpec,
    labels: Mapping[str, str] | None = None,
    overhead: Mapping[str, str | int | float] | None = None,
) -> Shape:
    """Shape of a pod; `overhead` is the runtime class's, for a pod that was not admitted yet.

    Raises
    ------
    QuantityError
        A request that Kubernetes would refuse.
    """
    return Shape(
        requests=tuple(sorted(pod_requests(spec, overhead).items())),
        node_selector=tuple(sorted(spec.node_selector.items())),
        affinity=_terms(spec.affinity.node_affinity.required),
        tolerations=tuple(spec.tolerations),
        claims=frozenset(_ports(spec)) | frozenset(_own_kind(spec, labels or {})),
    )


def _terms(required: NodeSelector | None) -> tuple[Term, ...] | None:
    if required is None:
        return None
    return tuple(
        (_expressions(term.match_expressions), _expressions(term.match_fields)) for term in required.node_selector_terms
    )


def _expressions(requirements: tuple[Requirement, ...]) -> tuple[Expression, ...]:
    return tuple((r.key, r.operator, r.values) for r in requirements)


def _ports(spec: PodSpec) -> list[Claim]:
    """Host ports; with hostNetwork every container port is one (API defaulting)."""
    found: list[Claim] = []
    for container in (*spec.containers, *(c for c in spec.init_containers if c.restartable)):
        for port in container.ports:
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                found.append((port.host_ip, port.protocol, number))
    return found


def _own_kind(spec: PodSpec, labels: Mapping[str, str]) -> list[Claim]:
    """Required anti-affinity on the host name that the pod's own labels match: at most one of the kind a node."""
    raw = spec.affinity.pod_anti_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []
    found: list[Claim] = []
    for term in raw:
        selector = term.get("labelSelector") or {}
        wanted = selector.get("matchLabels") or {}
        simple = wanted and not selector.get("matchExpressions") and not term.get("namespaces")
        if simple and term.get("topologyKey") == HOSTNAME and wanted.items() <= dict(labels).items():
            found.append(("", _APART, json.dumps(wanted, sort_keys=True)))
    return found
