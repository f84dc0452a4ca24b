"""minResources: what the whole group asks for, leader + (size - 1) workers.

Rule: the exact sum of the pods' requests as the scheduler computes them (`api.requests`), without zero keys, in plain
form only (`cpu`, not `requests.cpu`). Seen on the real scheduler: plain keys hold a group back in its queue,
`requests.*` alone hold nothing back, and both together only repeat the number; the PodGroups of other projects carry
plain keys too. `lws-volcano.io/min-resources: none` leaves the field out, so that an autoscaler sees unschedulable
pods instead of a PodGroup that waits in its queue.

The number covers the whole group also while a leader-first group counts its leader alone: the queue must have room for
all before the first pod starts (FACTS section 2).
"""

from collections.abc import Mapping

from lws_volcano.api.cluster import RuntimeClass
from lws_volcano.api.errors import QuantityError
from lws_volcano.api.names import MIN_RESOURCES, Reason
from lws_volcano.api.pods import PodSpec
from lws_volcano.api.quantity import Resources, add, format_resources, scale
from lws_volcano.api.requests import pod_requests
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["group_requests", "min_resources"]

_ALLOWED = ("group", "none")


def min_resources(
    lws: LeaderWorkerSet, template: LeaderWorkerTemplate, runtime_classes: Mapping[str, RuntimeClass] | None
) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """The field's value (empty: leave it out) and what is wrong with the input."""
    asked = lws.metadata.annotations.get(MIN_RESOURCES, "group")
    problems = []
    if asked not in _ALLOWED:
        problems.append(
            Problem(
                Reason.INVALID_ANNOTATION,
                f"{MIN_RESOURCES} is {asked!r} on the LeaderWorkerSet; allowed are group and none, group is used",
            )
        )
    try:
        total = group_requests(template, runtime_classes)
    except QuantityError as error:
        problems.append(Problem(Reason.INVALID_QUANTITY, f"the pod template is wrong: {error}", Cost.EVERYTHING))
        return {}, tuple(problems)
    return ({} if asked == "none" else format_resources(total)), tuple(problems)


def group_requests(
    template: LeaderWorkerTemplate, runtime_classes: Mapping[str, RuntimeClass] | None = None
) -> Resources:
    """Nano units that one whole group asks for.

    Raises
    ------
    QuantityError
        A quantity that Kubernetes would refuse.
    """
    leader = _pod(template.leader.spec, runtime_classes)
    if not template.workers:
        return leader
    return add([leader, scale(_pod(template.worker_template.spec, runtime_classes), template.workers)])


def _pod(spec: PodSpec, runtime_classes: Mapping[str, RuntimeClass] | None) -> Resources:
    runtime = (runtime_classes or {}).get(spec.runtime_class_name)
    return pod_requests(spec, runtime.pod_overhead if runtime else None)
