"""Unit tests of `lws_volcano.controller`."""
