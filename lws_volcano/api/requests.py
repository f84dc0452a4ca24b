"""What a pod asks for.

    max( sum(app containers) + sum(restartable init containers),
         each ordinary init container + the restartable ones before it )  + overhead

per resource; a missing request defaults to the limit of the same resource; pod-level requests take the place of the
sums for cpu, memory and huge pages, pod-level limits only where no container asks for the resource.

Source: k8s.io/component-helpers/resource/helpers.go (PodRequests) and the pod defaulting of the API server.
"""

from collections.abc import Mapping

from lws_volcano.api.pods import PodSpec, ResourceRequirements
from lws_volcano.api.quantity import add, parse_resources

__all__ = ["pod_requests"]


def pod_requests(spec: PodSpec, overhead: Mapping[str, str | int | float] | None = None) -> dict[str, int]:
    """Request of one pod in nano units, without zero values.

    Parameters
    ----------
    spec : PodSpec
        A pod's spec, or a template's (then the API server's defaulting is done here).
    overhead : mapping, optional
        Overhead of the runtime class, for a template; a pod that was admitted carries its own.

    Raises
    ------
    QuantityError
        A quantity that Kubernetes would refuse; `where` names the resource.
    """
    running = add(_defaulted(container.resources) for container in spec.containers)
    started: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.init_containers:
        asked = _defaulted(container.resources)
        if container.restartable:
            started = add([started, asked])
            peak = _larger(peak, started)
        else:
            peak = _larger(peak, add([started, asked]))
    total = _larger(add([running, started]), peak)
    total = _pod_level(spec, total)
    total = add([total, parse_resources(spec.overhead or overhead or {})])
    return {name: nano for name, nano in total.items() if nano}


def _defaulted(resources: ResourceRequirements) -> dict[str, int]:
    return parse_resources({**resources.limits, **resources.requests})


def _pod_level(spec: PodSpec, containers: dict[str, int]) -> dict[str, int]:
    """What the pod asks for as a whole: its own requests, then its containers', then its own limits."""
    requests, limits = (
        {name: nano for name, nano in parse_resources(raw).items() if _is_pod_level(name)}
        for raw in (spec.resources.requests, spec.resources.limits)
    )
    return {**limits, **containers, **requests}


def _is_pod_level(name: str) -> bool:
    return name in {"cpu", "memory"} or name.startswith("hugepages-")


def _larger(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in left.keys() | right.keys()}
