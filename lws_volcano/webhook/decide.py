"""The decision on one pod: what `mapping.binding` wants it to carry, and its hints, as a JSON Patch. Pure.

Asked again about the same pod (another webhook changed it after us), it adds nothing: hints are given together with the
binding, so a pod that is bound has had them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lws_volcano.api.cluster import Namespace
from lws_volcano.api.names import GROUP_NAME, LEADER_NAME, MINIMUM_GATE
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.binding import Binding, bind, pod_group_of
from lws_volcano.mapping.identity import Identity, identify
from lws_volcano.placement.hints import PodHints
from lws_volcano.webhook.hints import NO_HINTS, HintSource, Member
from lws_volcano.webhook.patch import Operation, add_affinity, add_annotations, add_gate

__all__ = ["Decision", "Outcome", "Situation", "decide"]


class Outcome(StrEnum):
    """What became of a request; label of the metric."""

    BOUND = "bound"
    GATED = "gated"
    UNCHANGED = "unchanged"
    LEFT_ALONE = "left_alone"
    NOT_A_MEMBER = "not_a_member"
    NO_SUCH_SET = "no_such_set"
    LOOKUP_FAILED = "lookup_failed"
    REFUSED = "refused"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer: what is added to the pod.

    Attributes
    ----------
    why
        For the log: why a pod of a LeaderWorkerSet was left alone.
    """

    outcome: Outcome
    patch: tuple[Operation, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that a decision depends on.

    Attributes
    ----------
    raw
        The pod as it was sent, undecoded.
    template
        Revision hash to the template of that revision; None where it is not known.
    pod_group, pod
        Name to object in the pod's namespace, from the caches.
    """

    raw: Mapping[str, Any]
    lws: LeaderWorkerSet
    namespace: Namespace | None
    settings: Settings
    template: Callable[[str], LeaderWorkerTemplate | None]
    pod_group: Callable[[str], PodGroup | None]
    pod: Callable[[str], Pod | None]
    hints: HintSource
    dry_run: bool = False


def decide(situation: Situation) -> Decision:
    """Decide on one pod."""
    pod = Pod.parse(situation.raw)
    binding = _binding(situation, pod)
    if not binding.bound or binding.identity is None:
        return Decision(Outcome.LEFT_ALONE, why=binding.why)
    hints = NO_HINTS if GROUP_NAME in pod.metadata.annotations else _hints(situation, pod, binding, binding.identity)
    patch = _patch(situation.raw, binding, hints)
    if not patch:
        return Decision(Outcome.UNCHANGED)
    return Decision(Outcome.GATED if binding.gate else Outcome.BOUND, tuple(patch))


def _binding(situation: Situation, pod: Pod) -> Binding:
    identity = identify(pod.metadata)
    name = pod_group_of(pod.metadata)
    return bind(
        pod,
        situation.lws,
        situation.namespace,
        situation.settings,
        template=situation.template(identity.revision) if identity else None,
        pod_group=situation.pod_group(name) if name else None,
    )


def _hints(situation: Situation, pod: Pod, binding: Binding, identity: Identity) -> PodHints:
    leader = None
    if identity.worker_index:
        name = pod.metadata.annotations.get(LEADER_NAME) or f"{identity.lws}-{identity.group}"
        leader = situation.pod(name)
    member = Member(
        pod=pod,
        lws=situation.lws,
        template=situation.template(identity.revision) or situation.lws.spec.leader_worker_template,
        revision=identity.revision,
        group_index=identity.group,
        worker_index=identity.worker_index,
        pod_group=binding.pod_group,
        dry_run=situation.dry_run,
        leader=leader,
    )
    return situation.hints.for_member(member)


def _patch(raw: Mapping[str, Any], binding: Binding, hints: PodHints) -> list[Operation]:
    patch = add_annotations(raw, {**hints.annotations, **binding.annotations})
    if binding.gate:
        patch += add_gate(raw, MINIMUM_GATE)
    return patch + add_affinity(raw, hints)
