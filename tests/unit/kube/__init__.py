"""Unit tests of `lws_volcano.kube`."""
