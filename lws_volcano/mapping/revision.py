"""The template behind a group: that of its own revision.

Rule (DESIGN section 3): numbers come from the ControllerRevision whose hash the group's pods carry, not from the live
spec, so that a group of the old revision keeps its PodGroup while a rollout or a resize is under way. StatefulSets keep
ControllerRevisions under the same labels, so the owner decides; the hash depends on the content alone, so two LWS share
it.
"""

from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from lws_volcano.api.workloads import ControllerRevision, LeaderWorkerSet, LeaderWorkerTemplate

__all__ = ["templates"]


def templates(lws: LeaderWorkerSet, revisions: Iterable[ControllerRevision]) -> Mapping[str, LeaderWorkerTemplate]:
    """Revision hash -> group template, of the revisions that this very LWS owns.

    Should two of them carry one hash, the one with the higher number counts; their content is the same.
    """
    found: dict[str, LeaderWorkerTemplate] = {}
    for revision in sorted(revisions, key=lambda one: (one.revision, one.name)):
        if not revision.hash or revision.owner_uid != lws.uid:
            continue
        template = _template(revision)
        if template is not None:
            found[revision.hash] = template
    return found


def _template(revision: ControllerRevision) -> LeaderWorkerTemplate | None:
    try:
        return revision.template()
    except ValidationError:
        return None
