"""docs/reference.md lists every name in the code: labels, annotations, reasons, settings, metrics, commands.

Left out: whether the explanations are good.
"""

from pathlib import Path

import pytest

from lws_volcano.api import names
from lws_volcano.api.names import Reason
from lws_volcano.api.settings import Settings
from lws_volcano.cli.main import COMMANDS, TOPOLOGY_COMMANDS

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
