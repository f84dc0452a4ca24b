"""Queues that take no PodGroups, and are used."""

from collections import Counter
from collections.abc import Iterator

from lws_volcano.cli.checks.patient import Finding, Level, Patient

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Finding]:
    """Closed and missing ones that PodGroups name."""
    kinds = patient.cluster.kinds
    if not kinds.queues.store.synced:
        return
    used = Counter(one.spec.queue for one in kinds.pod_groups.store)
    for name, count in sorted(used.items()):
        queue = kinds.queues.store.get(name)
        where = f"Queue {name}"
        if queue is None:
            what = f"does not exist, and {count} PodGroups name it: they wait for ever"
            yield Finding(level=Level.ERROR, what=what, where=where, mend="create it, or name another queue")
        elif queue.status.state not in {"", "Open"}:
            what = f"is {queue.status.state}, and {count} PodGroups name it: new ones are refused"
            yield Finding(level=Level.ERROR, what=what, where=where, mend="open it: vcctl queue operate -a open")
