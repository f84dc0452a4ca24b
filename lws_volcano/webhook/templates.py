"""Group templates by revision, decoded once: a revision never changes, and its pods come by the hundred."""

from typing import Final

from lws_volcano.api.workloads import LeaderWorkerSet, LeaderWorkerTemplate
from lws_volcano.mapping.revision import templates
from lws_volcano.state.cluster import Cluster
from lws_volcano.state.kinds import BY_OWNER

__all__ = ["Templates"]

_LIMIT: Final = 4096


class Templates:
    """Looks templates up in the cluster's ControllerRevisions and remembers them."""

    def __init__(self, cluster: Cluster) -> None:
        self._revisions = cluster.kinds.revisions.store
        self._known: dict[tuple[str, str], LeaderWorkerTemplate] = {}

    def of(self, lws: LeaderWorkerSet, revision: str) -> LeaderWorkerTemplate | None:
        """Template of this revision of the set, None where the cache has not seen it."""
        key = (lws.uid, revision)
        if key not in self._known:
            found = templates(lws, self._revisions.by(BY_OWNER, lws.uid))
            if len(self._known) > _LIMIT:
                self._known.clear()
            self._known |= {(lws.uid, known): template for known, template in found.items()}
        return self._known.get(key)
