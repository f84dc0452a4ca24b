"""Every metric, in one place. `docs/reference.md` lists them; a test compares the two."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

__all__ = [
    "CACHE_AGE",
    "CHANGES",
    "EVENTS",
    "GROUPS",
    "GROUP_HINTS",
    "GROUP_TIERS",
    "LEADER",
    "LISTS",
    "LWS",
    "QUEUE_DEPTH",
    "QUEUE_WAIT",
    "RECONCILES",
    "RECONCILE_SECONDS",
    "REGISTRY",
    "RING_COST",
    "STATUS_WRITES",
    "TOPOLOGY_NODES",
    "TOPOLOGY_READY",
    "WATCH_EVENTS",
    "WEBHOOK_ANSWERS",
    "WEBHOOK_CERTIFICATE_EXPIRES",
    "WEBHOOK_HINTS",
    "WEBHOOK_SECONDS",
]

disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY: Final = CollectorRegistry()
"""Ours alone: what other libraries count does not appear beside it."""

_FAST: Final = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

RECONCILES: Final = Counter(
    "lws_volcano_reconciles_total",
    "Passes, by what the key is about and by outcome (ok, requeue, error, terminal).",
    ("area", "outcome"),
    registry=REGISTRY,
)
RECONCILE_SECONDS: Final = Histogram(
    "lws_volcano_reconcile_seconds", "Time of one pass, writes included.", ("area",), buckets=_FAST, registry=REGISTRY
)
QUEUE_DEPTH: Final = Gauge("lws_volcano_queue_depth", "Keys that wait for a worker.", registry=REGISTRY)
QUEUE_WAIT: Final = Histogram(
    "lws_volcano_queue_wait_seconds", "Time that a key waited for a worker.", buckets=_FAST, registry=REGISTRY
)
CHANGES: Final = Counter(
    "lws_volcano_changes_total",
    "Changes made to the cluster, by sort and by outcome (made, observe, failed).",
    ("change", "outcome"),
    registry=REGISTRY,
)
STATUS_WRITES: Final = Counter("lws_volcano_status_writes_total", "Writes of our condition.", registry=REGISTRY)
EVENTS: Final = Counter(
    "lws_volcano_events_total",
    "Kubernetes Events, by outcome (created, counted, dropped, failed).",
    ("outcome",),
    registry=REGISTRY,
)
LISTS: Final = Counter("lws_volcano_lists_total", "Full lists read, by resource.", ("resource",), registry=REGISTRY)
WATCH_EVENTS: Final = Counter(
    "lws_volcano_watch_events_total", "Changes received, by resource.", ("resource",), registry=REGISTRY
)
CACHE_AGE: Final = Gauge(
    "lws_volcano_cache_age_seconds",
    "Time since the watch of a resource last showed a sign of life.",
    ("resource",),
    registry=REGISTRY,
)
LEADER: Final = Gauge("lws_volcano_leader", "1 on the replica that may write.", registry=REGISTRY)
LWS: Final = Gauge("lws_volcano_leaderworkersets", "LeaderWorkerSets in the cache.", registry=REGISTRY)
GROUPS: Final = Gauge(
    "lws_volcano_groups", "Groups of opted-in LeaderWorkerSets, by reason.", ("reason",), registry=REGISTRY
)
TOPOLOGY_READY: Final = Gauge(
    "lws_volcano_topology_ready",
    "1 for a topology that is in use as it is given now; 0 when it is refused or empty.",
    ("topology",),
    registry=REGISTRY,
)
TOPOLOGY_NODES: Final = Gauge(
    "lws_volcano_topology_nodes", "Nodes in a topology that is in use.", ("topology",), registry=REGISTRY
)
GROUP_TIERS: Final = Gauge(
    "lws_volcano_groups_by_tier",
    "Whole groups, by the tier of the lowest domain that holds them; 0 on one node.",
    ("tier",),
    registry=REGISTRY,
)
GROUP_HINTS: Final = Gauge(
    "lws_volcano_groups_by_hint",
    "Whole groups with a plan, by whether every rank sits where it was planned.",
    ("followed",),
    registry=REGISTRY,
)
RING_COST: Final = Gauge(
    "lws_volcano_ring_cost_ratio",
    "Ring cost of the whole groups with a plan over what was planned as best; 1 is as planned.",
    registry=REGISTRY,
)
WEBHOOK_ANSWERS: Final = Counter(
    "lws_volcano_webhook_answers_total", "Pods looked at during admission, by outcome.", ("outcome",), registry=REGISTRY
)
WEBHOOK_HINTS: Final = Counter(
    "lws_volcano_webhook_hints_total",
    "Hints given, by where they come from (planned, infeasible, followed, replaced, order, failed).",
    ("outcome",),
    registry=REGISTRY,
)
WEBHOOK_SECONDS: Final = Histogram(
    "lws_volcano_webhook_seconds", "Time to answer one admission request.", buckets=_FAST, registry=REGISTRY
)
WEBHOOK_CERTIFICATE_EXPIRES: Final = Gauge(
    "lws_volcano_webhook_certificate_expires_timestamp_seconds",
    "End of the serving certificate, in seconds since 1970.",
    registry=REGISTRY,
)
