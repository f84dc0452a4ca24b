"""Benchmarks can be started as their README says, alone and by `python -m benchmarks`. What they measure is not run."""

import importlib
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES

README = Path(__file__).parents[2] / "benchmarks" / "README.md"


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_takes_arguments_and_explains_them(name, capsys):
    """`main` of each is called with a list, and `--help` measures nothing."""
    with pytest.raises(SystemExit) as end:
        importlib.import_module(f"benchmarks.{name}").main(["--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("usage:")


def test_the_table_lists_what_is_run():
    """A benchmark that is new is listed, one that is gone is not."""
    rows = re.findall(r"^\| (`.*?) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} >= set(NAMES)
