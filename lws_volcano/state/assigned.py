"""Pods that have a node, as far as they matter: they take room.

A cluster has far more of these than pods of LeaderWorkerSets; each is kept in a few hundred bytes, and equal requests
are kept once.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lws_volcano.api.errors import QuantityError
from lws_volcano.api.names import LWS_NAME
from lws_volcano.api.pods import Pod
from lws_volcano.api.requests import pod_requests

__all__ = ["AssignedPod", "AssignedPods"]


class AssignedPod(NamedTuple):
    """What a bound pod takes from its node.

    `requests` is in nano units, without zero values; `host_ports` are (protocol, host IP, port).
    """

    key: str
    uid: str
    node: str
    requests: Mapping[str, int]
    host_ports: tuple[tuple[str, str, int], ...]
    lws: str
    """`namespace/name` of its LeaderWorkerSet, or empty."""


class AssignedPods:
    """Reads pods into their slim form."""

    def __init__(self) -> None:
        self._requests: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}
        self._nodes: dict[str, str] = {}

    def parse(self, raw: Mapping[str, Any]) -> AssignedPod | None:
        """The slim form; None for a pod without a node, or one that takes nothing any more."""
        pod = Pod.parse(raw)
        if not pod.bound or pod.finished:
            return None
        node = self._nodes.setdefault(pod.spec.node_name, pod.spec.node_name)
        owner = pod.metadata.labels.get(LWS_NAME)
        return AssignedPod(
            key=pod.key,
            uid=pod.uid,
            node=node,
            requests=self._intern(pod),
            host_ports=tuple(
                (port.protocol, port.host_ip, port.host_port)
                for container in pod.spec.containers
                for port in container.ports
                if port.host_port
            ),
            lws=f"{pod.namespace}/{owner}" if owner else "",
        )

    def _intern(self, pod: Pod) -> Mapping[str, int]:
        try:
            requests = pod_requests(pod.spec)
        except QuantityError:
            # The API server has checked it; a quantity beyond our range must not stop the watch.
            requests = {}
        return self._requests.setdefault(tuple(sorted(requests.items())), requests)
