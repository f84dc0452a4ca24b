"""What we know of the cluster.

`store` keeps the views of one kind under indexes, `cluster` has all stores and says which keys a change touches,
`snapshots` cuts out of them what the pure code is given. `reflector` feeds them; `assigned` is the slim form of pods
that only take room, `interning` keeps once what many pods share.
Not here: requests (`kube`), decisions (`mapping`, `placement`), the work queue (`controller`).
"""
