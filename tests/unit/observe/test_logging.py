"""Log lines as machines read them.

Covers: JSON with context, levels, records of libraries, tracebacks as one line. Leaves out: how the pretty form looks.
"""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from lws_volcano.observe.logging import configure


@pytest.fixture
def stderr(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What is logged; the set-up of the test run is put back afterwards."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield capsys
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()


def lines(captured: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Every line, decoded."""
    return [json.loads(line) for line in captured.readouterr().err.splitlines()]


def test_context_is_in_every_line(stderr: pytest.CaptureFixture[str]) -> None:
    """The key that is worked on, bound around the work."""
    configure("json")
    with structlog.contextvars.bound_contextvars(lws="ns/demo"):
        structlog.get_logger().info("change made", name="pg")
    (line,) = lines(stderr)
    assert (line["lws"], line["event"], line["name"], line["level"]) == ("ns/demo", "change made", "pg", "info")


def test_levels_below_the_chosen_one_are_left_out(stderr: pytest.CaptureFixture[str]) -> None:
    """Ours and the libraries' alike; a library's daily business is left out at info, too."""
    configure("json", "info")
    structlog.get_logger().debug("no")
    logging.getLogger("library").info("no")
    logging.getLogger("library").warning("yes")
    assert [(line["event"], line["logger"]) for line in lines(stderr)] == [("yes", "library")]


def test_a_traceback_is_one_line(stderr: pytest.CaptureFixture[str]) -> None:
    """So that a log collector keeps it together."""
    configure("json")
    try:
        int("boom")
    except ValueError:
        structlog.get_logger().exception("failed")
    (line,) = lines(stderr)
    assert "boom" in str(line["exception"])


def test_automatic_is_json_when_nobody_watches(stderr: pytest.CaptureFixture[str]) -> None:
    """A pipe is not a terminal."""
    configure("auto")
    structlog.get_logger().info("hello")
    assert lines(stderr)[0]["event"] == "hello"
