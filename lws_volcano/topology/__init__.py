"""The network as a model: which nodes are close to which.

Here: the ClusterTopology document (`schema`, `file`), the strict tree built from it (`build` -> `model`), what was
found on the way (`findings`), the HyperNodes that stand for it in Volcano (`hypernodes`, `writes`), and its pictures.
Not here: what fits where (`placement`), reading or writing a cluster (`kube`, `controller`).
"""
