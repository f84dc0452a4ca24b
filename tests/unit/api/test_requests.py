"""What a pod asks for: app, init and sidecar containers, limits as requests, pod-level resources, overhead.

Left out: the sum over a group (tests of `mapping.resources`).
"""

import pytest

from lws_volcano.api.errors import QuantityError
from lws_volcano.api.pods import PodSpec
from lws_volcano.api.quantity import format_resources
from lws_volcano.api.requests import pod_requests


def container(*, requests=None, limits=None, restart_policy=None):
    """One container as a manifest has it."""
    return {"resources": {"requests": requests, "limits": limits}, "restartPolicy": restart_policy}


def asked(**spec):
    """Request of a pod with this spec, as text."""
    return format_resources(pod_requests(PodSpec.model_validate(spec)))


def test_limits_stand_in_for_missing_requests_per_resource():
    """GPUs given only as limits count, beside a cpu that is requested."""
    app = container(requests={"cpu": "1"}, limits={"cpu": "2", "nvidia.com/gpu": 8})
    assert asked(containers=[app]) == {"cpu": "1", "nvidia.com/gpu": "8"}


def test_largest_init_container_wins_per_resource():
    """The maximum is taken for each resource on its own."""
    init = container(requests={"cpu": "4", "memory": "2Gi"})
    app = container(requests={"cpu": "2", "memory": "100Gi"})
    assert asked(containers=[app], initContainers=[init]) == {"cpu": "4", "memory": "100Gi"}


def test_sidecars_add_to_the_app_and_to_later_init_containers():
    """A restartable init container runs beside everything that starts after it."""
    sidecar = container(requests={"cpu": "1"}, restart_policy="Always")
    late = container(requests={"cpu": "5"})
    early = container(requests={"cpu": "5500m"})
    app = container(requests={"cpu": "2"})
    assert asked(containers=[app], initContainers=[early, sidecar]) == {"cpu": "5500m"}
    assert asked(containers=[app], initContainers=[early, sidecar, late]) == {"cpu": "6"}
    assert asked(containers=[app], initContainers=[sidecar]) == {"cpu": "3"}


def test_pod_level_resources_replace_cpu_and_memory_only():
    """Extended resources still come from the containers."""
    app = container(requests={"cpu": "2", "memory": "1Gi"}, limits={"nvidia.com/gpu": "1"})
    total = asked(containers=[app], resources={"requests": {"cpu": "10", "nvidia.com/gpu": "7"}})
    assert total == {"cpu": "10", "memory": "1Gi", "nvidia.com/gpu": "1"}


def test_pod_level_limit_counts_only_where_no_container_asks():
    """The API server defaults a missing pod-level request to the containers' sum, and only then to the limit."""
    app = container(requests={"cpu": "1"})
    assert asked(containers=[app], resources={"limits": {"cpu": "4", "memory": "2Gi"}}) == {"cpu": "1", "memory": "2Gi"}


def test_overhead_comes_on_top():
    """The pod's own overhead, or the runtime class's where the pod (a template) has none."""
    spec = PodSpec.model_validate({"containers": [container(requests={"cpu": "1"})]})
    assert format_resources(pod_requests(spec, overhead={"cpu": "250m"})) == {"cpu": "1250m"}


def test_no_resources_is_no_keys():
    """An empty resources block gives nothing, not zeros."""
    assert asked(containers=[{"resources": {}}, container(requests={"cpu": 0})]) == {}


def test_bad_quantity_is_an_input_error():
    """A value that is no quantity is refused with the name of its resource."""
    with pytest.raises(QuantityError, match="memory"):
        asked(containers=[container(requests={"memory": "lots"})])
