"""The Kubernetes vocabulary, and nothing else.

Here: the names of labels, annotations, gates and reasons (`names`), exact quantities (`quantity`), what a pod asks for
(`requests`), errors (`errors`), and slim frozen views of the objects we read (`meta`, `pods`, `cluster`, `workloads`,
`volcano`). Not here: decisions, I/O, clocks.
"""
