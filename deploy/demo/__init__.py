"""The whole thing on one machine, from nothing: `make demo`.

Here: the story that is told (`__main__`) and how its outcome is read back from the API server (`report`). Not here: the
control plane itself (`deploy.local`).
"""
