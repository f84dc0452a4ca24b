"""Which group, revision and rank a pod belongs to, read from its metadata alone.

Rule: labels decide. `worker-index` where it is there (0: the leader). A worker that LWS's own webhook has not seen yet
has `group-index` and, for its rank, `apps.kubernetes.io/pod-index`; a leader at that moment has worker index 0 and its
group index in `pod-index`. The pod's name is the last resort (clusters whose StatefulSets write no pod-index).
A group index is a string and is never parsed (KEP-898); a worker index is an integer.

Source: FACTS section 1, seen at admission of LWS v0.10.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lws_volcano.api.meta import Metadata
from lws_volcano.api.names import GROUP_INDEX, LEADER, LWS_NAME, POD_INDEX, REVISION_HASH, WORKER, WORKER_INDEX

__all__ = ["Identity", "identify"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Place of a pod in its LeaderWorkerSet."""

    lws: str
    group: str
    revision: str
    worker_index: int

    @property
    def role(self) -> str:
        """`leader` or `worker`."""
        return WORKER if self.worker_index else LEADER


def identify(metadata: Metadata) -> Identity | None:
    """Identity of a pod, or None when it is not a pod of a LeaderWorkerSet or its labels say too little."""
    labels = metadata.labels
    lws = labels.get(LWS_NAME, "")
    revision = labels.get(REVISION_HASH, "")
    rank = _worker_index(labels, metadata.name)
    if not lws or not revision or rank is None:
        return None
    group = labels.get(GROUP_INDEX) or _group_of_leader(labels, metadata.name, lws)
    return Identity(lws, group, revision, rank) if group else None


def _worker_index(labels: Mapping[str, str], name: str) -> int | None:
    text = labels.get(WORKER_INDEX)
    if text is None and GROUP_INDEX in labels:
        text = labels.get(POD_INDEX) or name.rpartition("-")[2]
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _group_of_leader(labels: Mapping[str, str], name: str, lws: str) -> str:
    if labels.get(WORKER_INDEX) != "0":
        return ""
    return labels.get(POD_INDEX) or name.removeprefix(f"{lws}-") * name.startswith(f"{lws}-")
