"""docs/reference.md lists every name in the code: labels, annotations, reasons, settings, metrics, commands.

Left out: whether the explanations are good.
"""

import argparse
from pathlib import Path

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.cli.main import COMMANDS, TOPOLOGY_COMMANDS, command_parser
from lws_volcano.observe.metrics import REGISTRY

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text()
OURS = sorted(
    value
    for value in vars(names).values()
    if isinstance(value, str) and value.startswith(names.PREFIX) and value not in {names.PREFIX, names.OUR_API}
)


@pytest.mark.parametrize("name", OURS)
def test_every_name_of_ours_is_listed(name):
    """Labels, annotations, gates and condition types."""
    assert f"`{name}" in REFERENCE


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_listed(reason):
    """An alert can be written from the page alone."""
    assert f"| `{reason}` |" in REFERENCE


@pytest.mark.parametrize("setting", list(Settings.model_fields))
def test_every_setting_is_listed(setting):
    """What an admin may decide."""
    assert f"`{setting}`" in REFERENCE


@pytest.mark.parametrize("command", [*COMMANDS, *(f"topology {name}" for name in TOPOLOGY_COMMANDS)])
def test_every_command_is_listed(command):
    """What can be typed."""
    assert f"`lws-volcano {command}" in REFERENCE


def flags(words):
    """Long options of a command, and its section of the page."""
    parser = command_parser(words)
    for word in words:
        parser = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices[word]
    section = REFERENCE.split("## Flags")[1].split(f"`lws-volcano {' '.join(words)}`\n")[1].split("\n`lws-volcano ")[0]
    return {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}, section


@pytest.mark.parametrize(
    "words", [*([c] for c in COMMANDS if c != "topology"), *(["topology", t] for t in TOPOLOGY_COMMANDS)]
)
def test_every_flag_is_listed(words):
    """All that a command takes, in its own section."""
    options, section = flags(words)
    assert options
    assert not {option for option in options if f"`{option}`" not in section}


@pytest.mark.parametrize("metric", sorted(metric.name for metric in REGISTRY.collect()))
def test_every_metric_is_listed(metric):
    """A dashboard can be made from the page alone."""
    if metric.startswith("lws_volcano_"):
        assert f"| `{metric}`" in REFERENCE or f"| `{metric}_total`" in REFERENCE
