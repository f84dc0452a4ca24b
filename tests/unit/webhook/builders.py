"""LeaderWorkerSets, their pods as the API server sends them for admission, and reviews."""

import copy
import json

from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet

LWS = "leaderworkerset.sigs.k8s.io/"
HASH = "5f4b9"
LWS_UID = "11111111-0000-0000-0000-000000000001"


def lws(*, gang="true", size=4, scheduler="volcano", template=None, annotations=None, **spec):
    """A LeaderWorkerSet `a/demo`; `gang` None leaves the opt-in out."""
    pod_spec = {"schedulerName": scheduler, "containers": [{"name": "c"}]}
    opt_in = {} if gang is None else {"lws-volcano.io/gang": gang}
    return LeaderWorkerSet.parse(
        {
            "metadata": {
                "namespace": "a",
                "name": "demo",
                "uid": LWS_UID,
                "annotations": {**opt_in, **(annotations or {})},
            },
            "spec": {
                "leaderWorkerTemplate": {
                    "size": size,
                    "workerTemplate": {"metadata": template or {}, "spec": pod_spec},
                },
                **spec,
            },
        }
    )


def leader(*, seen_by_lws=False, group="0", scheduler="volcano", annotations=None):
    """The leader pod at its admission, before or after LWS's own webhook."""
    labels = {
        LWS + "name": "demo",
        LWS + "worker-index": "0",
        LWS + "template-revision-hash": HASH,
        "apps.kubernetes.io/pod-index": group,
    }
    if seen_by_lws:
        labels |= {LWS + "group-index": group, LWS + "group-key": "k"}
    return _pod(f"demo-{group}", labels, scheduler, {LWS + "size": "4", **(annotations or {})})


def worker(*, index=1, seen_by_lws=False, group="0", scheduler="volcano", annotations=None):
    """A worker pod at its admission, before or after LWS's own webhook."""
    labels = {
        LWS + "name": "demo",
        LWS + "group-index": group,
        LWS + "group-key": "k",
        LWS + "template-revision-hash": HASH,
        "apps.kubernetes.io/pod-index": str(index),
    }
    if seen_by_lws:
        labels[LWS + "worker-index"] = str(index)
    own = {LWS + "size": "4", LWS + "leader-name": f"demo-{group}", **(annotations or {})}
    return _pod(f"demo-{group}-{index}", labels, scheduler, own)


def _pod(name, labels, scheduler, annotations):
    return {
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"schedulerName": scheduler, "containers": [{"name": "c"}]},
    }


def pod_group(*, group="0", size=1, workers=0, owner=LWS_UID, **metadata):
    """A PodGroup of ours with this minimum."""
    tasks = {"leader": 1, "worker": workers} if workers else {"leader": 1}
    owner_reference = {"kind": "LeaderWorkerSet", "name": "demo", "uid": owner, "controller": True}
    return PodGroup.parse(
        {
            "metadata": {
                "namespace": "a",
                "name": f"demo-{group}-{HASH}",
                "uid": "22222222-0000-0000-0000-000000000001",
                "ownerReferences": [owner_reference],
                **metadata,
            },
            "spec": {"minMember": size, "minTaskMember": tasks},
        }
    )


def review(pod, *, operation="CREATE", namespace="a"):
    """Body of an AdmissionReview about this pod."""
    request = {
        "uid": "r1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": operation,
        "namespace": namespace,
        "object": copy.deepcopy(pod),
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()
