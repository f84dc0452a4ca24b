"""What all groups of one revision have in common: the policies that look at templates, run once a revision."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lws_volcano.api.volcano import SubGroupPolicySpec
from lws_volcano.api.workloads import LeaderWorkerTemplate
from lws_volcano.mapping.network_topology import Constraint, network_topology
from lws_volcano.mapping.opt_in import OptIn, opt_in
from lws_volcano.mapping.placement_wish import placement_wish
from lws_volcano.mapping.priority import choose_priority_class
from lws_volcano.mapping.problems import Cost, Problem, worst
from lws_volcano.mapping.queue import check_queue, choose_queue
from lws_volcano.mapping.resources import min_resources
from lws_volcano.mapping.snapshot import Snapshot
from lws_volcano.mapping.stand_down import stand_down
from lws_volcano.mapping.sub_groups import sub_groups

__all__ = ["Blueprint", "draw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """The PodGroup of a revision's groups, without what differs from group to group."""

    template: LeaderWorkerTemplate
    asked: OptIn
    stood_down: Problem | None
    queue: str
    priority_class: str
    min_resources: Mapping[str, str]
    constraint: Constraint
    sub_groups: tuple[SubGroupPolicySpec, ...]
    problems: tuple[Problem, ...]
    """All that was found, the other fields' included, in the order in which the policies ran."""

    @property
    def refusal(self) -> Problem | None:
        """Why nothing may be written for these groups."""
        problem = worst(self.problems)
        return problem if problem and problem.cost is Cost.EVERYTHING else None

    @property
    def hold(self) -> Problem | None:
        """Why a PodGroup that is not there yet has to wait."""
        return next((problem for problem in self.problems if problem.cost is Cost.CREATION), None)

    @property
    def wanted(self) -> bool:
        """A gang was asked for and nobody else owns it."""
        return self.asked.wanted and self.stood_down is None


def draw(snapshot: Snapshot, template: LeaderWorkerTemplate) -> Blueprint:
    """Run the policies over one template."""
    lws = snapshot.lws
    asked = opt_in(lws, template, snapshot.namespace, snapshot.settings)
    theirs = stand_down(lws, template, snapshot.pod_groups) if asked.wanted else None
    queue, where = choose_queue(lws, template, snapshot.namespace)
    priority_class, priority_problem = choose_priority_class(template, snapshot.priority_classes)
    resources, resource_problems = min_resources(lws, template, snapshot.runtime_classes)
    constraint = network_topology(lws, template, snapshot.topology, snapshot.capabilities)
    policies, sub_group_problems = sub_groups(template, constraint, supported=snapshot.capabilities.sub_groups)
    found = (
        theirs,
        *asked.problems,
        *resource_problems,
        *constraint.problems,
        *sub_group_problems,
        check_queue(queue, where, snapshot.queues),
        priority_problem,
        *placement_wish(lws, snapshot.settings, snapshot.topology).problems,
    )
    return Blueprint(
        template=template,
        asked=asked,
        stood_down=theirs,
        queue=queue,
        priority_class=priority_class,
        min_resources=resources,
        constraint=constraint,
        sub_groups=policies,
        problems=tuple(_each_once(found)),
    )


def _each_once(found: tuple[Problem | None, ...]) -> Iterator[Problem]:
    seen: set[Problem] = set()
    for problem in found:
        if problem is not None and problem not in seen:
            seen.add(problem)
            yield problem
