"""How the program is looked at from outside: `logging`, `metrics` (every name is in that module), `health`, `address`.

Not here: Kubernetes Events and conditions, which are written by the controller for the users of a workload.
"""
