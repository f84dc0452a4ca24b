"""The MutatingWebhookConfiguration that we want. Pure.

It takes the creation of pods and nothing else: a pod webhook that also takes UPDATE changes pods under the garbage
collector's patch and keeps them from going away (kubernetes-sigs/lws#346). What it can do without us, the API server
decides itself: the object selector and the match conditions keep every other pod away from the network.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from lws_volcano.api.names import GROUP_NAME, LWS_NAME, MANAGED_BY, MANAGER

__all__ = ["EXCLUDED_NAMESPACES", "PATH", "WEBHOOK", "Registered", "ServiceReference", "desired", "match_conditions"]

PATH: Final = "/mutate-pods"
WEBHOOK: Final = "pods.lws-volcano.io"
EXCLUDED_NAMESPACES: Final = ("kube-system",)

FailurePolicy = Literal["Ignore", "Fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReference:
    """The Service in front of the replicas."""

    name: str
    namespace: str
    port: int = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """What an admin decides about the registration.

    Attributes
    ----------
    target
        A Service, or the URL of a process outside the cluster.
    timeout
        Whole seconds that the API server waits; an answer takes milliseconds, a direct read at most one second.
    """

    target: ServiceReference | str
    failure_policy: FailurePolicy = "Ignore"
    timeout: int = 3
    scheduler_name: str = "volcano"
    name: str = MANAGER


def desired(registered: Registered, ca_bundle: bytes) -> dict[str, Any]:
    """The object as it is applied."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": registered.name, "labels": {MANAGED_BY: MANAGER}},
        "webhooks": [_webhook(registered, ca_bundle)],
    }


def match_conditions(scheduler_name: str) -> list[dict[str, str]]:
    """CEL: a pod for the Volcano scheduler to which nobody has given a group yet."""
    annotated = f"has(object.metadata.annotations) && '{GROUP_NAME}' in object.metadata.annotations"
    return [
        {
            "name": "volcano-scheduler",
            "expression": f"has(object.spec.schedulerName) && object.spec.schedulerName == '{scheduler_name}'",
        },
        {"name": "no-group-yet", "expression": f"!({annotated})"},
    ]


def _webhook(registered: Registered, ca_bundle: bytes) -> dict[str, Any]:
    return {
        "name": WEBHOOK,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {**_target(registered.target), "caBundle": base64.b64encode(ca_bundle).decode()},
        "failurePolicy": registered.failure_policy,
        "matchConditions": match_conditions(registered.scheduler_name),
        "matchPolicy": "Equivalent",
        "namespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(EXCLUDED_NAMESPACES)}
            ]
        },
        "objectSelector": {"matchExpressions": [{"key": LWS_NAME, "operator": "Exists"}]},
        "reinvocationPolicy": "IfNeeded",
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["pods"],
                "scope": "Namespaced",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": registered.timeout,
    }


def _target(target: ServiceReference | str) -> Mapping[str, Any]:
    if isinstance(target, str):
        return {"url": target}
    service = {"name": target.name, "namespace": target.namespace, "path": PATH, "port": target.port}
    return {"service": service}
