"""The configuration of the Volcano scheduler: plugins that gangs and topology need, and how many nodes it looks at."""

from collections.abc import Iterator
from typing import Final

from lws_volcano.cli.checks.patient import Finding, Level, Patient
from lws_volcano.mapping.scheduler_config import TOPOLOGY_PLUGIN, plugins_of

__all__ = ["check"]

_ALL_NODES: Final = "percentage-nodes-to-find=100"
_SAMPLED: Final = 100
"""Nodes in a domain from which on the scheduler looks at a part of them only."""


def check(patient: Patient) -> Iterator[Finding]:
    """Plugins, and sampling."""
    yield from _plugins(patient)
    yield from _sampling(patient)


def _plugins(patient: Patient) -> Iterator[Finding]:
    where = f"ConfigMap {patient.installed.scheduler_config}"
    if patient.scheduler_config is None:
        # Without the scheduler beside it Volcano is elsewhere, or not installed, which the definitions tell.
        if patient.installed.scheduler_config and patient.scheduler_args is not None and where not in patient.unread:
            yield Finding(
                level=Level.WARNING,
                what="is not there: nothing is known of the scheduler's plugins",
                where=where,
                mend="name the right one (setting scheduler_config, --config)",
            )
        return
    found = plugins_of(patient.scheduler_config)
    if found is None:
        yield Finding(level=Level.ERROR, what="is not YAML", where=where, mend="correct it: the scheduler ignores it")
        return
    if "gang" not in found:
        what = "has no plugin gang: pods of a group start one by one"
        yield Finding(level=Level.ERROR, what=what, where=where, mend="add `- name: gang` to the first tier")
    if TOPOLOGY_PLUGIN not in found:
        used = patient.cluster.topology is not None or len(patient.cluster.kinds.hyper_nodes.store) > 0
        what = f"has no plugin {TOPOLOGY_PLUGIN}: network topology, hard too, is ignored without a word"
        level = Level.ERROR if used else Level.WARNING
        yield Finding(level=level, what=what, where=where, mend=f"add `- name: {TOPOLOGY_PLUGIN}` to a tier")


def _sampling(patient: Patient) -> Iterator[Finding]:
    topology = patient.cluster.topology
    if topology is None or patient.scheduler_args is None:
        return
    if any(_ALL_NODES in argument for argument in patient.scheduler_args):
        return
    lowest = set(topology.domain_of)
    large = [topology.domains[index] for index in sorted(lowest) if len(topology.domains[index]) > _SAMPLED]
    if large:
        yield Finding(
            level=Level.WARNING,
            what=f"{len(large)} domains have more than {_SAMPLED} nodes, such as {large[0].name} with {len(large[0])}, "
            "and the scheduler looks at a part of them: hints are followed by chance there",
            where=f"Deployment {patient.installed.scheduler}",
            mend=f"run it with --{_ALL_NODES}",
        )
