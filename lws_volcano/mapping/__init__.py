"""LWS group -> desired PodGroup; one policy a file.

`snapshot` is all that a decision may depend on, `plan` runs the policies in order, `changes` is what comes out.
Not here: reading or writing a cluster (`kube`, `state`, `controller`), where pods go (`placement`).
"""
