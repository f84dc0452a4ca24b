"""A stand-in for the LeaderWorkerSet controller, for machines that do not have the real one.

Covers, as recorded from the real controller: defaulting and validation of LeaderWorkerSets; a ControllerRevision
`<lws>-<hash>-<n>` a template (same hash function); the leader StatefulSet by server-side apply, with the real partition
arithmetic of rolling updates (maxUnavailable, maxSurge, partition); a worker StatefulSet after each leader pod
(LeaderReady: when it is Ready; exclusive-topology: when it has a node); group, worker and sub-group labels, exclusive
affinity and the LWS_* variables in a pod webhook; the restart policies with deletion of the leader in the
foreground; status, its conditions and the scale sub-resource's selector; headless services; clean-up of revisions.

Leaves out: Events, DisaggregatedSet, TPU variables, LWS's own gang provider, `spec.scheduling`, metrics, leader
election, and conversion of older API versions.

The decisions are in pure files (`revision`, `stateful_sets`, `rollout`, `status`, `pod_admission`, `set_admission`,
`restarts`), all effects in `controller`.
"""
