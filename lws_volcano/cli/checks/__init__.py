"""What `lws-volcano doctor` looks for: one file a subject, each a pure function of a `Patient` that gives findings.

Here: what would silently break gang or topology scheduling, and how to mend it. Not here: reading the cluster (what is
read stands in `patient`, `cli.doctor` reads it), and what the controller says of itself in conditions and Events.
"""
