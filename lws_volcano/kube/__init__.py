"""The only package that talks to an API server.

`client` sends one request and checks the answer, `errors` has the ways in which it can fail, `resources` knows the
kinds and their paths, `watch` keeps a kind listed and watched for ever, `apply` makes the few sorts of writes there
are, `discovery` asks what is installed, `clock` is the time that is injected everywhere above.
Not here: what the objects mean (`api`), keeping them (`state`), deciding anything.
"""
