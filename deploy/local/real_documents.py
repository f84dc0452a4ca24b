"""What the API server must hold for the real LWS and Volcano programs: kinds that they watch, and their webhooks.

Kinds that this project reads itself have schemas of their own in `crds/`. Those here only have to exist, or the
programs wait for their caches for ever.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import Any, Final

__all__ = ["lws_documents", "volcano_documents"]

Document = dict[str, Any]

WATCHED_BY_LWS: Final = (
    ("disaggregatedset.x-k8s.io", "v1", "DisaggregatedSet", "disaggregatedsets", "Namespaced"),
    ("disaggregatedset.x-k8s.io", "v1", "DisaggregatedSetRoleScaler", "disaggregatedsetrolescalers", "Namespaced"),
)
WATCHED_BY_VOLCANO: Final = (
    ("nodeinfo.volcano.sh", "v1alpha1", "Numatopology", "numatopologies", "Cluster"),
    ("bus.volcano.sh", "v1alpha1", "Command", "commands", "Namespaced"),
)

LWS_GROUP: Final = ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets")
LWS_PATH: Final = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
DISAGGREGATED_GROUP: Final = ("disaggregatedset.x-k8s.io", "v1", "disaggregatedsets")
DISAGGREGATED_PATH: Final = "disaggregatedset-x-k8s-io-v1-disaggregatedset"
PODS: Final = ("", "v1", "pods")
LWS_PODS: Final = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}
WRITES: Final = ("CREATE", "UPDATE")

ADMISSION_RULES: Final = {
    "pods": (PODS, ("CREATE",)),
    "podgroups": (("scheduling.volcano.sh", "v1beta1", "podgroups"), ("CREATE",)),
    "queues": (("scheduling.volcano.sh", "v1beta1", "queues"), ("CREATE", "UPDATE", "DELETE")),
    "hypernodes": (("topology.volcano.sh", "v1alpha1", "hypernodes"), WRITES),
}


def lws_documents(port: int, authority: bytes) -> Iterator[Document]:
    """Documents to apply, in order, before the LWS manager starts; its webhooks are served on `port`."""
    yield _namespace("lws-system")
    yield from (_open_kind(*kind) for kind in WATCHED_BY_LWS)
    base = f"https://127.0.0.1:{port}"
    yield _configuration(
        "MutatingWebhookConfiguration",
        "lws-mutating-webhook-configuration",
        [
            _webhook("mleaderworkerset.kb.io", f"{base}/mutate-{LWS_PATH}", authority) | _rules(LWS_GROUP, WRITES),
            _webhook("mpod.kb.io", f"{base}/mutate--v1-pod", authority)
            | _rules(PODS, ("CREATE",))
            | {"objectSelector": LWS_PODS},
        ],
    )
    yield _configuration(
        "ValidatingWebhookConfiguration",
        "lws-validating-webhook-configuration",
        [
            _webhook("vleaderworkerset.kb.io", f"{base}/validate-{LWS_PATH}", authority) | _rules(LWS_GROUP, WRITES),
            _webhook("vdisaggregatedset.kb.io", f"{base}/validate-{DISAGGREGATED_PATH}", authority)
            | _rules(DISAGGREGATED_GROUP, WRITES),
            _webhook("vpod.kb.io", f"{base}/validate--v1-pod", authority)
            | _rules(PODS, WRITES)
            | {"objectSelector": LWS_PODS},
        ],
    )


def volcano_documents(port: int, authority: bytes, admissions: Sequence[str]) -> Iterator[Document]:
    """Documents to apply, in order, before Volcano starts.

    Parameters
    ----------
    port : int
        Where its admission server listens.
    admissions : sequence of str
        Paths that it serves, such as `/podgroups/mutate`. It looks up one configuration for each by name.
    """
    yield _namespace("volcano-system")
    yield from (_open_kind(*kind) for kind in WATCHED_BY_VOLCANO)
    for path in admissions:
        _, resource, verb = path.split("/")
        target, operations = ADMISSION_RULES[resource]
        mutates = verb == "mutate"
        webhook = _webhook(
            f"{verb}{resource.removesuffix('s')}.volcano.sh", f"https://127.0.0.1:{port}{path}", authority
        )
        yield _configuration(
            "MutatingWebhookConfiguration" if mutates else "ValidatingWebhookConfiguration",
            "volcano-admission-service" + path.replace("/", "-"),
            [webhook | _rules(target, ("CREATE",) if mutates else operations)],
        )


def _namespace(name: str) -> Document:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _open_kind(group: str, version: str, kind: str, plural: str, scope: str) -> Document:
    """Definition of a kind whose objects may hold anything."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served: Document = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if group == DISAGGREGATED_GROUP[0]:
        served["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [served],
        },
    }


def _configuration(kind: str, name: str, webhooks: list[Document]) -> Document:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": webhooks,
    }


def _webhook(name: str, url: str, authority: bytes) -> Document:
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 10,
        "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode()},
    }


def _rules(target: tuple[str, str, str], operations: Sequence[str]) -> Document:
    group, version, resource = target
    rule = {"apiGroups": [group], "apiVersions": [version], "resources": [resource], "operations": list(operations)}
    return {"rules": [rule]}
