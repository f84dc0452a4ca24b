"""LeaderWorkerSets: what the mapping has to say against them, and pods that are outside of their PodGroup."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from lws_volcano.api.names import GROUP_NAME, LWS_NAME, Reason
from lws_volcano.cli.checks.patient import Finding, Level, Patient
from lws_volcano.mapping.plan import plan_lws
from lws_volcano.state.snapshots import snapshot

__all__ = ["check"]

# That network topology is ignored has one cause for all sets: checks scheduler and hyper_nodes find it.
_MENDABLE: Final = {
    Reason.WRONG_SCHEDULER: "set schedulerName in both pod templates",
    Reason.STOOD_DOWN: "turn one of the two off",
    Reason.NAME_TAKEN: "delete or rename the other",
    Reason.POD_NOT_IN_GANG: "restart the group: delete its leader pod",
    Reason.PRIORITY_CLASS_CONFLICT: "agree on one class",
    Reason.TWO_TOPOLOGY_PLANNERS: "keep one of the two",
    Reason.TIER_NOT_FOUND: "use a tier of the configured topology",
}
_STRAY: Final = "podgroup-"


def check(patient: Patient) -> Iterator[Finding]:
    """Whatever keeps a set from being one gang a group."""
    yield from _problems(patient)
    yield from _strays(patient)


def _problems(patient: Patient) -> Iterator[Finding]:
    now = datetime.now(UTC)
    for lws in sorted(patient.cluster.kinds.lws.store, key=lambda one: one.key):
        taken = snapshot(patient.cluster, lws.key, patient.settings, now)
        if taken is None:
            continue
        for notice in plan_lws(taken).notices:
            if notice.reason in _MENDABLE:
                yield Finding(
                    level=Level.ERROR,
                    what=f"{notice.reason}: {notice.message}",
                    where=f"LeaderWorkerSet {lws.key}",
                    mend=_MENDABLE[notice.reason],
                )


def _strays(patient: Patient) -> Iterator[Finding]:
    """Pods in the PodGroup that Volcano makes for a StatefulSet, of sets that got past our webhook."""
    by_set: dict[str, list[str]] = defaultdict(list)
    for pod in patient.cluster.kinds.pods.store:
        if pod.metadata.annotations.get(GROUP_NAME, "").startswith(_STRAY) and not pod.finished:
            by_set[f"{pod.namespace}/{pod.metadata.labels.get(LWS_NAME, '')}"].append(pod.name)
    for key, pods in sorted(by_set.items()):
        yield Finding(
            level=Level.WARNING,
            what=f"{len(pods)} pods, such as {min(pods)}, are in a PodGroup of a StatefulSet, which is no gang",
            where=f"LeaderWorkerSet {key}",
            mend="where a gang is wanted: opt it in, see that the webhook answers, and restart its groups",
        )
