"""A stand-in for the Volcano scheduler, its controllers and its webhook, for machines that do not have the real ones.

Covers, as recorded from the real programs: phases Pending, Inqueue, Running, Unknown, Completed; queues (Open,
capability against allocated plus enqueued minResources in plain names, an empty PodGroup holds its room); priority
classes; gangs (minMember, minTaskMember with the per-task check off below its sum, releasing pods not counted,
sub-groups by label keys); order of tasks by `volcano.sh/task-priority`, then the number at the end of the name; node
room, cordons, taints, node selectors, required and preferred node affinity, required pod affinity and anti-affinity,
scheduling gates; HyperNodes with hard and soft networkTopology, whose choice comes before node preferences; no topology
scheduling with a malformed tree; conditions that never go away; `podgroup-<uid>` for pods without a group; refusal of
PodGroups as the webhook does it.

Leaves out: preemption, reclaim, backfill, hierarchical queues, guarantee and deserved shares, overcommit, pipelining
onto releasing room, binpacking and other scores (ties are broken at random), volumes, host ports,
preferred pod affinity, topology spread, bandwidth annotations, Jobs, Events, metrics, leader election.

`session` and what it imports are pure: a snapshot in, decisions out. `scheduler` and `controllers` have the effects.
"""
