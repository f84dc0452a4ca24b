"""The registration as it is applied: what it intercepts and what it stays away from.

Left out: whether an API server takes it and acts so (tests/integration/test_webhook.py).
"""

import base64

from lws_volcano.webhook.configuration import Registered, ServiceReference, desired

SERVICE = ServiceReference(name="lws-volcano", namespace="gpu")


def hook(**changes):
    """The only webhook of the configuration."""
    configuration = desired(Registered(**{"target": SERVICE, **changes}), b"PEM")
    (only,) = configuration["webhooks"]
    return only


def test_creation_of_pods_and_nothing_else():
    """UPDATE is never intercepted (kubernetes-sigs/lws#346), nor sub-resources."""
    (rule,) = hook()["rules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE"], ["pods"])


def test_other_pods_never_reach_us():
    """LWS pods only, for the configured scheduler, without a group, outside kube-system."""
    found = hook(scheduler_name="vc2")
    assert found["objectSelector"]["matchExpressions"] == [
        {"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}
    ]
    expressions = " && ".join(condition["expression"] for condition in found["matchConditions"])
    assert "object.spec.schedulerName == 'vc2'" in expressions
    assert "!(has(object.metadata.annotations) && 'scheduling.k8s.io/group-name' in" in expressions
    assert found["namespaceSelector"]["matchExpressions"][0]["values"] == ["kube-system"]


def test_policies():
    """Called again after other webhooks, without side effects, in a short time; fail open unless told otherwise."""
    found = hook()
    assert (found["reinvocationPolicy"], found["sideEffects"]) == ("IfNeeded", "None")
    assert found["timeoutSeconds"] <= 5
    assert found["failurePolicy"] == "Ignore"
    assert hook(failure_policy="Fail")["failurePolicy"] == "Fail"


def test_service_or_url():
    """A Service in the cluster, a URL outside of it; the bundle beside either."""
    inside, outside = hook()["clientConfig"], hook(target="https://127.0.0.1:9443/mutate-pods")["clientConfig"]
    assert inside["service"] == {"name": "lws-volcano", "namespace": "gpu", "path": "/mutate-pods", "port": 443}
    assert "url" not in inside
    assert outside["url"] == "https://127.0.0.1:9443/mutate-pods"
    assert "service" not in outside
    assert base64.b64decode(inside["caBundle"]) == b"PEM"
