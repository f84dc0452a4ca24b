"""The PodGroups that would exist, from documents alone: what `lws-volcano plan` shows.

An LWS in a file has no pods yet. For every group that `spec.replicas` asks for and that the input shows no pod of, a
leader pod is made up as LWS would make it and our webhook would bind it; then the same `survey` decides as in the
controller.

What a file cannot tell
- The revision hash is LWS's own computation. It is taken from the input where a ControllerRevision, or the pods, show
  it; else a placeholder stands for it, a function of the template's content alone (`placeholder_hash`).
- An object without a UID is given the zero UUID, in owner references too; one without a namespace is in `default`.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lws_volcano.api.names import GROUP_INDEX, GROUP_NAME, LWS_NAME, REVISION_HASH, TASK_SPEC, WORKER_INDEX, Reason
from lws_volcano.api.pods import Pod
from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.blueprint import Blueprint
from lws_volcano.mapping.changes import GangCondition
from lws_volcano.mapping.group_plan import GroupPlan
from lws_volcano.mapping.groups import Group
from lws_volcano.mapping.identity import identify
from lws_volcano.mapping.naming import pod_group_name
from lws_volcano.mapping.plan import Survey, survey
from lws_volcano.mapping.problems import Problem
from lws_volcano.mapping.revision import templates
from lws_volcano.mapping.snapshot import Snapshot
from lws_volcano.mapping.tasks import task_names

__all__ = ["ZERO_UID", "OfflineGroup", "OfflinePlan", "placeholder_hash", "plan_offline"]

ZERO_UID: Final = "00000000-0000-0000-0000-000000000000"
_NAMESPACE: Final = "default"
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Kubernetes' alphabet for generated names: no vowels, no digits that look like letters."""
_HASH_LENGTH: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineGroup:
    """One group.

    Attributes
    ----------
    manifest
        Its PodGroup as it must be now; None where there is none, then `problem` or `outside` says why.
    outside
        That its pods run outside any PodGroup of ours, so that it gets none until it restarts; else empty.
    members
        Worker index -> pod, of the pods that the input shows; made-up ones are not among them.
    """

    lws: LeaderWorkerSet
    template: LeaderWorkerTemplate
    blueprint: Blueprint | None
    index: str
    revision: str
    pod_group: str
    manifest: Mapping[str, Any] | None
    problem: Problem | None
    outside: str
    members: Mapping[int, Pod]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflinePlan:
    """One LWS.

    Attributes
    ----------
    condition
        What the LWS status would say; None when no gang is asked for.
    problems
        Everything that a person should mend or know, each once.
    outside
        Of the groups with a PodGroup and pods that run outside it, which and how to mend it.
    """

    lws: LeaderWorkerSet
    blueprint: Blueprint
    groups: tuple[OfflineGroup, ...]
    condition: GangCondition | None
    problems: tuple[Problem, ...]
    outside: tuple[str, ...]

    @property
    def wanted(self) -> bool:
        """A gang was asked for and nobody else owns it."""
        return self.blueprint.wanted

    @property
    def refusal(self) -> Problem | None:
        """Why this LWS gets no PodGroup at all."""
        return self.blueprint.refusal if self.blueprint.asked.wanted else None


def plan_offline(snapshot: Snapshot) -> OfflinePlan:
    """Plan one LWS from documents; the snapshot holds whatever the input shows of it."""
    complete = _complete(snapshot)
    found = survey(complete)
    shown = {pod.uid or pod.key for pod in snapshot.pods}
    return OfflinePlan(
        lws=complete.lws,
        blueprint=found.live,
        groups=tuple(_group(complete, found, plan, shown) for plan in found.plans),
        condition=found.outcome.condition,
        problems=found.problems,
        outside=tuple(_outside(plan) for plan in found.plans if plan.desired is not None and _outside(plan)),
    )


def placeholder_hash(template: LeaderWorkerTemplate) -> str:
    """Stands for the revision hash of a template: ten characters, the same for the same content.

    Only the fields that we read take part, so two templates that differ in an image alone have one placeholder.
    """
    text = json.dumps(template.manifest(), sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:_HASH_LENGTH])


def _complete(snapshot: Snapshot) -> Snapshot:
    """The snapshot as it would be once LWS had made every group's leader."""
    lws = snapshot.lws
    filled_in = {"uid": lws.uid or ZERO_UID, "namespace": lws.namespace or _NAMESPACE}
    lws = lws.model_copy(update={"metadata": lws.metadata.model_copy(update=filled_in)})
    template = lws.spec.leader_worker_template
    known = templates(lws, snapshot.revisions)
    shown = _hashes(snapshot.pods, lws.name)
    hash_ = _current_hash(template, known, shown)
    unknown = {hash_, *shown} - set(known)
    revisions = (*snapshot.revisions, *(_revision(lws, template, one) for one in sorted(unknown)))
    leaders = tuple(_leaders(lws, template, hash_, snapshot.pods))
    return replace(snapshot, lws=lws, revisions=revisions, pods=(*snapshot.pods, *leaders))


def _hashes(pods: Iterable[Pod], lws: str) -> list[str]:
    identities = (identify(pod.metadata) for pod in pods)
    return sorted({one.revision for one in identities if one is not None and one.lws == lws})


def _current_hash(
    template: LeaderWorkerTemplate, known: Mapping[str, LeaderWorkerTemplate], shown: Iterable[str]
) -> str:
    """Hash of the live template: of the revision with this content, else of the only pods there are, else made up."""
    same = [hash_ for hash_, one in known.items() if one.manifest() == template.manifest()]
    if same:
        return same[-1]
    shown = list(shown)
    return shown[0] if len(shown) == 1 and not known else placeholder_hash(template)


def _revision(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, hash_: str) -> ControllerRevision:
    owner = {"kind": "LeaderWorkerSet", "name": lws.name, "uid": lws.uid, "controller": True}
    metadata = {"name": f"{lws.name}-{hash_}", "labels": {REVISION_HASH: hash_}, "ownerReferences": [owner]}
    content = {"spec": {"leaderWorkerTemplate": template.manifest()}}
    return ControllerRevision.parse({"metadata": metadata, "data": content})


def _leaders(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, hash_: str, pods: Iterable[Pod]) -> Iterator[Pod]:
    identities = (identify(pod.metadata) for pod in pods)
    begun = {one.group for one in identities if one is not None and one.lws == lws.name}
    for number in range(lws.spec.replicas):
        if str(number) not in begun:
            yield _leader(lws, template, hash_, str(number))


def _leader(lws: LeaderWorkerSet, template: LeaderWorkerTemplate, hash_: str, index: str) -> Pod:
    """The pod that LWS would make, as our webhook would let it in."""
    own = template.leader.metadata
    bound = {GROUP_NAME: pod_group_name(lws.name, index, hash_), TASK_SPEC: task_names(template)[0]}
    labels = {**own.labels, LWS_NAME: lws.name, GROUP_INDEX: index, WORKER_INDEX: "0", REVISION_HASH: hash_}
    metadata = own.model_copy(
        update={
            "name": f"{lws.name}-{index}",
            "namespace": lws.namespace,
            "labels": labels,
            "annotations": {**bound, **own.annotations},
        }
    )
    return Pod(metadata=metadata, spec=template.leader.spec)


def _outside(plan: GroupPlan) -> str:
    return plan.notice.message if plan.notice is not None and plan.notice.reason is Reason.POD_NOT_IN_GANG else ""


def _group(snapshot: Snapshot, found: Survey, plan: GroupPlan, shown: set[str]) -> OfflineGroup:
    group: Group = plan.group
    known = templates(snapshot.lws, snapshot.revisions)
    problem = plan.problem
    if plan.desired is None and problem is None:
        problem = found.live.refusal
    return OfflineGroup(
        lws=snapshot.lws,
        template=known.get(group.revision, snapshot.lws.spec.leader_worker_template),
        blueprint=found.live,
        index=group.index,
        revision=group.revision,
        pod_group=group.pod_group,
        manifest=plan.desired.manifest() if plan.desired else None,
        problem=problem,
        outside="" if plan.desired or problem else _outside(plan),
        members={rank: pod for rank, pod in group.members.items() if (pod.uid or pod.key) in shown},
    )
