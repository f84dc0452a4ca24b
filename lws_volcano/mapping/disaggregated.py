"""The LeaderWorkerSets that a DisaggregatedSet would make, for planning from files.

In a cluster its controller makes them and they are mapped like any other LWS. Names are
`<set>-<slice>-<revision>-<role>`; the revision is the controller's own computation, so a placeholder stands for it.
Annotations of the set itself do not reach its LWS, those in `spec.roles[].metadata` do (FACTS section 1, seen).
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from lws_volcano.api.meta import Metadata
from lws_volcano.api.names import LWS_API
from lws_volcano.api.workloads import DisaggregatedRole, DisaggregatedSet, LeaderWorkerSet
from lws_volcano.mapping.offline import placeholder_hash

__all__ = ["children"]

_PREFIX: Final = "disaggregatedset.x-k8s.io/"
_REVISION_LENGTH: Final = 8


def children(parent: DisaggregatedSet, known: Iterable[LeaderWorkerSet] = ()) -> tuple[LeaderWorkerSet, ...]:
    """One LWS a slice and role, without the roles of which `known` has an LWS already."""
    made = {_role_of(lws) for lws in known if lws.namespace == parent.namespace}
    revision = _revision(parent)
    return tuple(
        _child(parent, role, str(number), revision)
        for number in range(parent.spec.slices)
        for role in parent.spec.roles
        if (parent.name, str(number), role.name) not in made
    )


def _role_of(lws: LeaderWorkerSet) -> tuple[str, str, str]:
    labels = lws.metadata.labels
    return labels.get(_PREFIX + "name", ""), labels.get(_PREFIX + "slice", "0"), labels.get(_PREFIX + "role", "")


def _revision(parent: DisaggregatedSet) -> str:
    parts = (f"{role.name}={placeholder_hash(role.spec.leader_worker_template)}" for role in parent.spec.roles)
    return hashlib.sha256(";".join(parts).encode()).hexdigest()[:_REVISION_LENGTH]


def _child(parent: DisaggregatedSet, role: DisaggregatedRole, number: str, revision: str) -> LeaderWorkerSet:
    labels = {
        f"{_PREFIX}name": parent.name,
        f"{_PREFIX}slice": number,
        f"{_PREFIX}revision": revision,
        f"{_PREFIX}role": role.name,
    }
    metadata = Metadata(
        name=f"{parent.name}-{number}-{revision}-{role.name}",
        namespace=parent.namespace,
        labels={**role.metadata.labels, **labels},
        annotations=role.metadata.annotations,
    )
    return LeaderWorkerSet(api_version=LWS_API, kind="LeaderWorkerSet", metadata=metadata, spec=role.spec)
