"""The asyncio machinery and the reconcilers.

`manager` assembles everything and stops it; `queue` and `workers` bring keys to reconcilers; `lws_reconciler` makes
one pass over one LeaderWorkerSet; `executor` makes the changes; `status` and `events` tell people; `leader_election`
says who may write. Not here: what should be (`mapping`, `placement`), requests (`kube`), what is known (`state`).

Our own because nothing that is kept up fits: kubernetes_asyncio has neither informer, queue nor recorder, and its
leader election goes on leading after it has lost the lease; kopf decides by events, not by state.
"""
