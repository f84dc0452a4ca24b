"""priorityClassName of a group: the one that leader and workers agree on.

Rule: a PodGroup has one priority. Where the templates name different classes none is written and the conflict is
reported. A class that does not exist is reported too: the API server refuses the pods, so nobody else would say why
there are none; Volcano takes such a PodGroup without a word (FACTS section 2), so it is not written either.
"""

from collections.abc import Mapping
from typing import Final

from lws_volcano.api.cluster import PriorityClass
from lws_volcano.api.names import Reason
from lws_volcano.api.workloads import LeaderWorkerTemplate
from lws_volcano.mapping.problems import Problem

__all__ = ["choose_priority_class"]

_BUILT_IN: Final = frozenset({"system-node-critical", "system-cluster-critical"})


def choose_priority_class(
    template: LeaderWorkerTemplate, known: Mapping[str, PriorityClass] | None
) -> tuple[str, Problem | None]:
    """Name of the class, empty for none; `known` None means that the classes may not be read."""
    leader = template.leader.spec.priority_class_name
    worker = template.worker_template.spec.priority_class_name if template.workers else leader
    if leader != worker:
        return "", Problem(
            Reason.PRIORITY_CLASS_CONFLICT,
            f"the leader's priorityClassName is {leader or 'not set'}, the worker's is {worker or 'not set'}; a group "
            "has one priority: set the same class in both templates",
        )
    if leader and known is not None and leader not in known and leader not in _BUILT_IN:
        return "", Problem(
            Reason.PRIORITY_CLASS_NOT_FOUND,
            f"there is no PriorityClass {leader!r}, which the pod templates name; create it or name another one",
        )
    return leader, None
