"""LWS group -> desired PodGroup; one policy a file.

`snapshot` is all that a decision may depend on, `plan` runs the policies in order, `changes` is what comes out.
`binding` answers the webhook about one pod by the same policies, `offline` plans from documents.

A policy's file states its rule and where the rule comes from in its header. `blueprint` runs those that look at
templates, once a revision; `standing`, `minimum`, `pod_groups`, `diff`, `retarget` and `gates` look at one group;
`conditions` puts the outcome into words.

Not here: reading or writing a cluster (`kube`, `state`, `controller`), where pods go (`placement`).
"""
