"""Taking our gate off pods.

Rule (DESIGN section 5, invariants 1 and 5): a worker's gate goes when its PodGroup was *seen* to ask for the whole
group, not when we have merely written so; a leader's (it is gated only while a former PodGroup of the name is ending)
when its own PodGroup is there. A gate that waits for nothing, because no PodGroup is coming, goes at once.
"""

from collections.abc import Iterator

from lws_volcano.api.names import MINIMUM_GATE
from lws_volcano.api.pods import Pod
from lws_volcano.api.volcano import PodGroup
from lws_volcano.mapping.changes import RemoveGate
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.minimum import Minimum, is_gated, reached

__all__ = ["open_all_gates", "open_gates"]


def open_gates(group: Group, wanted: Minimum, observed: PodGroup | None) -> Iterator[RemoveGate]:
    """Gates that have served their purpose; `observed` is the group's PodGroup where it is ours and stays."""
    if observed is None or not reached(wanted, observed):
        return
    for rank, pod in group.members.items():
        if is_gated(pod) and (wanted.final or not rank):
            yield _remove(pod, "the minimum of the PodGroup is final")


def open_all_gates(group: Group) -> Iterator[RemoveGate]:
    """Every gate of ours: there is no PodGroup to wait for."""
    for pod in group.members.values():
        if is_gated(pod):
            yield _remove(pod, "no PodGroup is coming for this group")


def _remove(pod: Pod, why: str) -> RemoveGate:
    return RemoveGate(namespace=pod.namespace, name=pod.name, uid=pod.uid, gate=MINIMUM_GATE, why=why)
