"""The examples in docstrings are true."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["hostlist", "rates", "hypernode_names"])
def test_examples_in_docstrings(module: str) -> None:
    """They run, and give what they say."""
    result = doctest.testmod(importlib.import_module(f"lws_volcano.topology.{module}"))
    assert result.attempted
    assert not result.failed
