"""Unit tests of `lws_volcano.state`."""
