"""AdmissionReview v1: what the API server asks, and what it is answered. Pure.

Source: k8s.io/api/admission/v1 and "Dynamic Admission Control" of the Kubernetes documentation.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lws_volcano.api.errors import InputError
from lws_volcano.webhook.patch import Operation

__all__ = ["AdmissionRequest", "ReviewError", "allow", "parse_review"]

_API: Final = "admission.k8s.io/v1"


class ReviewError(InputError):
    """The body is no AdmissionReview for the creation of a pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    """The parts of a request that the decision needs.

    Attributes
    ----------
    uid
        Identifies the request; the answer repeats it.
    namespace
        Where the pod will be; the pod's own metadata may not say yet.
    pod
        The pod as it is at this moment of its admission, undecoded.
    """

    uid: str
    operation: str
    namespace: str
    pod: Mapping[str, Any]
    dry_run: bool = False


def parse_review(body: bytes) -> AdmissionRequest:
    """Read an AdmissionReview.

    Raises
    ------
    ReviewError
        Not JSON, another version, or not about a pod.
    """
    try:
        review = json.loads(body)
    except ValueError as error:
        raise ReviewError("the body is not JSON", mend="only the API server should call this address") from error
    request = review.get("request") if isinstance(review, dict) else None
    if not isinstance(request, dict) or review.get("apiVersion") != _API:
        raise ReviewError(f"the body is no AdmissionReview of {_API}", mend="set admissionReviewVersions to [v1]")
    return _request(request)


def _request(request: Mapping[str, Any]) -> AdmissionRequest:
    pod = request.get("object")
    kind = (request.get("kind") or {}).get("kind", "")
    if kind != "Pod" or not isinstance(pod, dict):
        raise ReviewError(f"the review is about {kind or 'nothing'}, not a Pod", mend="correct the webhook's rules")
    return AdmissionRequest(
        uid=str(request.get("uid", "")),
        operation=str(request.get("operation", "")),
        namespace=str(request.get("namespace", "")),
        pod=pod,
        dry_run=bool(request.get("dryRun")),
    )


def allow(uid: str, patch: Sequence[Operation] = ()) -> dict[str, Any]:
    """Answer that lets the pod in, changed by a JSON Patch where there is one."""
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(list(patch)).encode()).decode()
    return {"apiVersion": _API, "kind": "AdmissionReview", "response": response}
