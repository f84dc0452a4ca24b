"""Whether a LeaderWorkerSet wants a gang.

Rule (CONTRACTS section 1, DESIGN section 3): annotation `lws-volcano.io/gang` on the LWS, then on its pod templates
(leader's, then worker's), then on the namespace, then the configuration. A value other than "true" and "false" counts
as not said, and is reported. The pods must ask for the configured Volcano scheduler, leader and workers alike; where
nobody asked for this very workload (namespace or configuration), a workload of another scheduler is simply not meant.

The webhook decides with the same function.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lws_volcano.api.cluster import Namespace
from lws_volcano.api.names import DEFAULT_SCHEDULER, GANG, Reason
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["OptIn", "opt_in"]

_VALUES = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class OptIn:
    """The answer: `wanted` says that somebody asked, `problems` what stands against it.

    Attributes
    ----------
    wanted
        A gang was asked for; False also where the pods belong to another scheduler and nobody named this workload.
    source
        Where the deciding word stands, for messages.
    problems
        Bad values that were passed over, and a scheduler that does not fit (which costs everything).
    """

    wanted: bool
    source: str
    problems: tuple[Problem, ...] = ()

    @property
    def granted(self) -> bool:
        """Asked for and possible."""
        return self.wanted and all(problem.cost < Cost.EVERYTHING for problem in self.problems)


def opt_in(
    lws: LeaderWorkerSet, template: LeaderWorkerTemplate, namespace: Namespace | None, settings: Settings
) -> OptIn:
    """Decide for the groups of one revision of one LWS.

    Parameters
    ----------
    lws
        Its annotations come first.
    template
        The group's own template: of its revision, or the live one.
    namespace
        None when it is not known; then it says nothing.
    settings
        Scheduler name and the default.
    """
    bad: list[Problem] = []
    wanted, source, named = settings.gang_by_default, "the configuration", False
    for where, annotations, is_named in _places(lws, template, namespace):
        text = annotations.get(GANG)
        if text is None:
            continue
        if text in _VALUES:
            wanted, source, named = _VALUES[text], where, is_named
            break
        bad.append(Problem(Reason.INVALID_ANNOTATION, f'{GANG} is {text!r} on {where}; allowed are "true" and "false"'))
    if not wanted:
        return OptIn(False, source, tuple(bad))
    schedulers = _schedulers(template)
    if not named and settings.scheduler_name not in schedulers.values():
        return OptIn(False, source, tuple(bad))
    mismatch = _mismatch(schedulers, settings.scheduler_name)
    return OptIn(True, source, (*bad, mismatch) if mismatch else tuple(bad))


def _places(
    lws: LeaderWorkerSet, template: LeaderWorkerTemplate, namespace: Namespace | None
) -> Iterator[tuple[str, Mapping[str, str], bool]]:
    yield "the LeaderWorkerSet", lws.metadata.annotations, True
    yield "the leader's pod template", template.leader.metadata.annotations, True
    yield "the worker's pod template", template.worker_template.metadata.annotations, True
    if namespace is not None:
        yield f"namespace {namespace.name}", namespace.metadata.annotations, False


def _schedulers(template: LeaderWorkerTemplate) -> dict[str, str]:
    """Role -> schedulerName; a group of one pod has no workers to ask."""
    asked = {"leader": template.leader.spec.scheduler_name}
    if template.workers:
        asked["worker"] = template.worker_template.spec.scheduler_name
    return asked


def _mismatch(schedulers: Mapping[str, str], wanted: str) -> Problem | None:
    wrong = {role: name or "default-scheduler" for role, name in schedulers.items() if name != wanted}
    if not wrong:
        return None
    found = " and ".join(f"the {role}'s is {name}" for role, name in wrong.items())
    return Problem(
        Reason.WRONG_SCHEDULER,
        f"a gang needs schedulerName {wanted or DEFAULT_SCHEDULER} in every pod template, but {found}; "
        "set it in leaderTemplate and workerTemplate alike",
        Cost.EVERYTHING,
    )
