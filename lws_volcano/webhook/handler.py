"""One request, one answer: parse, look up, decide, answer, measure.

What can't be decided is answered with an HTTP error, so that `failurePolicy` of the registration is the one place that
says whether a pod waits for us: Ignore lets it in unbound, Fail makes its controller try again.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Final

import structlog
from aiohttp import web

from lws_volcano.api.names import LWS_NAME
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import LeaderWorkerSet
from lws_volcano.kube.clock import Clock
from lws_volcano.observe import metrics
from lws_volcano.state.cluster import Cluster
from lws_volcano.webhook.decide import Decision, Outcome, Situation, decide
from lws_volcano.webhook.hints import HintSource
from lws_volcano.webhook.lookup import Lookup, LookupFailedError
from lws_volcano.webhook.review import AdmissionRequest, ReviewError, allow, parse_review
from lws_volcano.webhook.templates import Templates

__all__ = ["Handler", "Known"]

_log = structlog.get_logger(__name__)
_TOO_LARGE_FOR_LOOP: Final = 256 * 1024
"""Bytes of a review above which decoding would keep the others waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a handler answers from."""

    cluster: Cluster
    lookup: Lookup
    hints: HintSource
    settings: Settings
    clock: Clock


class Handler:
    """Answers AdmissionReviews."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._templates = Templates(known.cluster)

    async def handle(self, request: web.Request) -> web.Response:
        """Answer of one HTTP request; never raises but for cancellation."""
        started = self._known.clock.monotonic()
        outcome, response = await self._outcome(request)
        metrics.WEBHOOK_ANSWERS.labels(outcome=outcome).inc()
        metrics.WEBHOOK_SECONDS.observe(self._known.clock.monotonic() - started)
        return response

    async def _outcome(self, request: web.Request) -> tuple[str, web.Response]:
        try:
            review = await _decoded(await request.read())
            decision = await self.review(review)
        except ReviewError as error:
            return Outcome.REFUSED, web.Response(status=400, text=str(error))
        except LookupFailedError as error:
            _log.warning("pod not bound", error=str(error))
            return Outcome.LOOKUP_FAILED, web.Response(status=503, text=str(error))
        except web.HTTPException as error:
            return Outcome.REFUSED, web.Response(status=error.status, text=error.reason)
        except Exception:  # noqa: BLE001 - a defect of ours must not leave the API server waiting
            _log.exception("admission failed")
            return Outcome.ERROR, web.Response(status=500, text="lws-volcano could not decide; see its log")
        if decision.why:
            _log.debug("pod left alone", namespace=review.namespace, pod=_name(review), why=decision.why)
        return decision.outcome, _answer(review, decision)

    async def review(self, request: AdmissionRequest) -> Decision:
        """The decision on one pod.

        Raises
        ------
        LookupFailedError
            Its LeaderWorkerSet can't be read now.
        """
        labels = (request.pod.get("metadata") or {}).get("labels") or {}
        name = labels.get(LWS_NAME, "")
        if request.operation != "CREATE" or not name:
            return Decision(Outcome.NOT_A_MEMBER)
        lws = await self._known.lookup.find(request.namespace, name)
        return Decision(Outcome.NO_SUCH_SET) if lws is None else decide(self._situation(request, lws))

    def _situation(self, request: AdmissionRequest, lws: LeaderWorkerSet) -> Situation:
        kinds = self._known.cluster.kinds
        return Situation(
            raw=request.pod,
            lws=lws,
            namespace=kinds.namespaces.store.get(request.namespace),
            settings=self._known.settings,
            template=lambda revision: self._templates.of(lws, revision),
            pod_group=lambda name: kinds.pod_groups.store.get(f"{request.namespace}/{name}"),
            pod=lambda name: kinds.pods.store.get(f"{request.namespace}/{name}"),
            hints=self._known.hints,
            dry_run=request.dry_run,
        )


def _name(review: AdmissionRequest) -> str:
    return str((review.pod.get("metadata") or {}).get("name", ""))


async def _decoded(body: bytes) -> AdmissionRequest:
    if len(body) > _TOO_LARGE_FOR_LOOP:
        return await asyncio.to_thread(parse_review, body)
    return parse_review(body)


def _answer(review: AdmissionRequest, decision: Decision) -> web.Response:
    body = allow(review.uid, decision.patch)
    return web.Response(body=json.dumps(body).encode(), content_type="application/json")
