"""What a pod must carry to belong to its group: the rules of the admission webhook.

Rules (issue "It runs", item 5; FACTS sections 1 and 2)
- Pods of opted-in groups carry `scheduling.k8s.io/group-name` and `volcano.sh/task-spec` from their creation; a patch
  afterwards is always too late. That the PodGroup is not there yet does no harm.
- A group name that the user wrote himself stands: we add nothing. A task name of his is kept; the PodGroup follows it.
- A worker that is admitted before its leader-first group asks for the whole is gated, and so is any pod whose PodGroup
  is still ending under the same name: the dying one must not start it.
- Asked again about a pod that has everything, nothing is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lws_volcano.api.cluster import Namespace
from lws_volcano.api.meta import Metadata
from lws_volcano.api.names import GROUP_NAME, TASK_SPEC
from lws_volcano.api.pods import Pod
from lws_volcano.api.settings import Settings
from lws_volcano.api.volcano import PodGroup
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.clean_up import is_ours
from lws_volcano.mapping.identity import Identity, identify
from lws_volcano.mapping.minimum import full_minimum, is_gated, leader_first, reached
from lws_volcano.mapping.naming import check_name, pod_group_name
from lws_volcano.mapping.opt_in import opt_in
from lws_volcano.mapping.problems import Cost
from lws_volcano.mapping.stand_down import made_by_lws, stand_down
from lws_volcano.mapping.tasks import task_of

__all__ = ["Binding", "bind", "pod_group_of"]


@dataclass(frozen=True, slots=True)
class Binding:
    """The answer for one pod.

    Attributes
    ----------
    identity
        Group, revision and worker index; None when the pod is not one of an LWS.
    pod_group
        Name of its PodGroup; empty when the pod is left alone, then `why` says why.
    annotations
        Those to add; empty when all are there.
    gate
        `names.MINIMUM_GATE` is to be added.
    """

    identity: Identity | None = None
    pod_group: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    gate: bool = False
    why: str = ""

    @property
    def bound(self) -> bool:
        """The pod belongs to a PodGroup of ours."""
        return bool(self.pod_group)


def pod_group_of(metadata: Metadata) -> str:
    """Name of the PodGroup that a pod of an LWS would belong to, for looking it up; empty for any other pod."""
    identity = identify(metadata)
    return pod_group_name(identity.lws, identity.group, identity.revision) if identity else ""


def bind(
    pod: Pod,
    lws: LeaderWorkerSet,
    namespace: Namespace | None,
    settings: Settings,
    *,
    template: LeaderWorkerTemplate | None = None,
    pod_group: PodGroup | None = None,
) -> Binding:
    """Decide for one pod at its creation.

    Parameters
    ----------
    pod
        As it was sent: LWS's own webhook may or may not have run (see `identity`).
    lws
        The LWS named by its label.
    namespace, settings
        Where the opt-in may stand as well.
    template
        Of the pod's revision where that is known, else the live one counts.
    pod_group
        The PodGroup under the name that `pod_group_of` gives, None when there is none.
    """
    template = template or lws.spec.leader_worker_template
    identity = identify(pod.metadata)
    if identity is None:
        return Binding(why="the labels do not say which group of which LeaderWorkerSet the pod is in")
    refusal = _refusal(pod, lws, template, namespace, settings)
    if refusal:
        return Binding(identity, why=refusal)
    name = pod_group_name(identity.lws, identity.group, identity.revision)
    own = pod.metadata.annotations.get(GROUP_NAME, name)
    if own != name:
        return Binding(identity, why=f"the pod already names PodGroup {own!r}")
    if pod_group is not None and made_by_lws(pod_group):
        return Binding(identity, why="LWS's own Volcano provider made the PodGroup")
    return Binding(
        identity,
        name,
        _missing(pod.metadata, name, identity.role),
        _needs_gate(pod, lws, template, identity, pod_group) and not is_gated(pod),
    )


def _refusal(
    pod: Pod, lws: LeaderWorkerSet, template: LeaderWorkerTemplate, namespace: Namespace | None, settings: Settings
) -> str:
    if pod.spec.scheduler_name != settings.scheduler_name:
        return f"its scheduler is {pod.spec.scheduler_name or 'default-scheduler'}, not {settings.scheduler_name}"
    asked = opt_in(lws, template, namespace, settings)
    if not asked.wanted:
        return "no gang is asked for"
    if not asked.granted:
        return next(problem.message for problem in asked.problems if problem.cost is Cost.EVERYTHING)
    theirs = stand_down(lws, template)
    if theirs is not None:
        return theirs.message
    too_long = check_name(pod_group_of(pod.metadata))
    return too_long.message if too_long else ""


def _missing(metadata: Metadata, name: str, role: str) -> dict[str, str]:
    wanted = {}
    if GROUP_NAME not in metadata.annotations:
        wanted[GROUP_NAME] = name
    if not task_of(metadata, ""):
        wanted[TASK_SPEC] = role
    return wanted


def _needs_gate(
    pod: Pod,
    lws: LeaderWorkerSet,
    template: LeaderWorkerTemplate,
    identity: Identity,
    pod_group: PodGroup | None,
) -> bool:
    if pod.bound:
        return False
    if pod_group is not None and pod_group.metadata.terminating:
        return True
    if not identity.worker_index or not leader_first(lws, template, pod.metadata):
        return False
    return pod_group is None or not is_ours(pod_group, lws) or not reached(full_minimum(template), pod_group)
