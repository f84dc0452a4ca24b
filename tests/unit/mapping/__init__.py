"""Tests of `lws_volcano.mapping`: builders of objects, an in-memory world, and one file a policy."""
