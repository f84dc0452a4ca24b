"""Reading and answering AdmissionReviews; bodies of others are refused with a message.

Left out: HTTP (test_server).
"""

import base64
import json

import pytest

from lws_volcano.webhook.review import ReviewError, allow, parse_review


def body(**changes):
    """A review of a pod's creation."""
    request = {
        "uid": "u1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "team-a",
        "object": {"metadata": {"name": "demo-0"}},
        **changes,
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def test_request_parts():
    """Everything that the decision needs is there."""
    request = parse_review(body(dryRun=True))
    assert (request.uid, request.operation, request.namespace, request.dry_run) == ("u1", "CREATE", "team-a", True)
    assert request.pod["metadata"]["name"] == "demo-0"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"<html>", "not JSON"),
        (b"[]", "no AdmissionReview"),
        (b"{}", "no AdmissionReview"),
        (b'{"apiVersion": "admission.k8s.io/v1beta1", "request": {}}', "no AdmissionReview"),
        (b'{"apiVersion": "admission.k8s.io/v1", "request": {}}', "about nothing"),
        (body(kind={"kind": "Job"}), "about Job"),
        (body(object=None), "not a Pod"),
    ],
)
def test_other_bodies_are_refused(text, part):
    """Not JSON, another version, another kind, a deletion: a ReviewError that says which."""
    with pytest.raises(ReviewError, match=part):
        parse_review(text)


def test_answer_without_a_patch():
    """No patch, no patch type: the API server refuses one without the other."""
    assert allow("u1")["response"] == {"uid": "u1", "allowed": True}


def test_answer_with_a_patch():
    """The patch is base64 JSON."""
    operation = {"op": "add", "path": "/a", "value": "b"}
    response = allow("u1", [operation])["response"]
    assert json.loads(base64.b64decode(response["patch"])) == [operation]
    assert response["patchType"] == "JSONPatch"
