"""Unit tests of `lws_volcano.observe`."""
