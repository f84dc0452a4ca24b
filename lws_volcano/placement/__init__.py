"""What fits where: from free room and a group's demand to a node for every rank, and to hints that say so.

The way through the package
    `shape`, `fits`, `room`   one pod, one node: does it fit, how many whole pods do
    `forest`, `tally`         the same summed up the trees of the topology, kept up to date change by change
    `capacity`                nodes, pods and promises in one object; `state` feeds it, planning reads it
    `demand`                  a group and its rules
    `planner`                 the way in; it asks `search` (whole groups), `exclusive`, `apart` (scope workers),
                              `company` (placement groups), and where members are bound:
    `refill`                  up to twelve are lost: the best nodes, rank by rank (`contenders`, `cells`)
    `anchored`                more are, or sub-groups: `beside` chooses nodes, `seating` gives them to ranks; `region`
                              says for both where to look
    `cost`, `pack`, `spread`  what is best, in a domain of nodes and in a tree of domains; `ranks` and `ring` order it
    `plan`, `quality`, `bounds`, `shortage`, `explain`  what came out, how good it is, and why
    `plan_format`, `node_lists`  JSON, and the annotation that carries a plan
    `landing`, `fullness`     where a group may land as the scheduler sees it; `descent` finds its nodes there
    `window`, `order`, `hints`  what is written on pods, with a plan and without

For callers
    capacity = Capacity(topology)                      # then upsert_node, bind, unbind as changes come
    plan = plan_group(demand, capacity)                # or plan_groups for several
    capacity.reserve(demand, plan.nodes)               # until the pods are bound, or `release`
    leader_hints(plan, capacity, priority=…)           # on the leader: terms, and the plan as annotation
    member_hints(read_annotation(text), rank, topology, capacity.hostname)      # on each worker, on any replica
    replacement_hints(plan, rank, capacity)            # a lost member; the plan was made with the others bound
    add_to_affinity(pod["spec"].get("affinity"), hints)

A plan takes about 0.2 ms with a warm capacity; the first plan of a new pair of pod shapes counts all nodes once.

Not here: reading annotations and resolving tiers (`mapping`), HyperNodes (`topology`), anything that waits or talks.
"""
