"""The command line as a whole: commands, exit codes, what is printed when something is wrong.

Left out: what the commands do (their own tests).
"""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from lws_volcano.api.errors import ClusterError, InputError, UsageError
from lws_volcano.cli import main as entry


@pytest.fixture
def command(monkeypatch):
    """Make `lws-volcano plan` do what the test wants."""

    def install(run):
        module = SimpleNamespace(add_parser=lambda commands: commands.add_parser("plan"), run=run)
        monkeypatch.setattr(entry, "_load", lambda _: module)

    return install


def raising(error):
    """A command that fails."""

    def run(_):
        raise error

    return run


def test_every_command_has_a_module_with_the_two_functions():
    """Nothing in the help is a promise only."""
    for name in [name for name in entry.COMMANDS if name != "topology"] + [
        f"topology_{n}" for n in entry.TOPOLOGY_COMMANDS
    ]:
        module = entry._load(name)
        assert callable(module.add_parser)
        assert callable(module.run)


@pytest.mark.parametrize(
    "words", [["--help"], ["plan", "--help"], ["topology", "--help"], ["topology", "show", "--help"]]
)
def test_help_exits_with_0(words, capsys):
    """Help is an answer."""
    with pytest.raises(SystemExit) as caught:
        entry.main(words)
    assert caught.value.code == 0
    assert "usage: lws-volcano" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["nope"], ["plan", "--nope"], ["topology"], ["topology", "nope"]])
def test_wrong_usage_exits_with_2(words, capsys):
    """On stderr, with the usage."""
    with pytest.raises(SystemExit) as caught:
        entry.main(words)
    assert caught.value.code == entry.USAGE
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["plan", "--nope"], ["topology", "show", "--nope", "x"], ["status", "a", "b"]])
def test_unknown_words_are_an_error_of_the_command(words, capsys):
    """With its usage, not that of the whole program."""
    with pytest.raises(SystemExit):
        entry.main(words)
    known = [word for word in words[:2] if not word.startswith("-") and len(word) > 1]
    assert f"usage: lws-volcano {' '.join(known)} [-h]" in capsys.readouterr().err


def test_no_command_prints_the_help(capsys):
    """And is wrong usage."""
    assert entry.main([]) == entry.USAGE
    assert "COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("bad"), entry.NO), (UsageError("bad"), entry.USAGE), (ClusterError("bad"), entry.UNREACHABLE)],
)
def test_errors_become_one_line_and_an_exit_code(error, code, command, capsys):
    """No traceback."""
    command(raising(error))
    assert entry.main(["plan"]) == code
    assert capsys.readouterr().err == "error: bad\n"


def test_a_defect_is_named_as_one(command, capsys, monkeypatch):
    """One line without the debug variable, the traceback with it."""
    command(raising(KeyError("x")))
    assert entry.main(["plan"]) == entry.NO
    err = capsys.readouterr().err
    assert "defect" in err
    assert err.count("\n") == 1
    monkeypatch.setenv(entry.DEBUG, "1")
    with pytest.raises(KeyError):
        entry.main(["plan"])


def test_a_full_disk_is_no_defect(command, capsys):
    """One line that names what the machine said."""
    command(raising(OSError(28, "No space left on device")))
    assert entry.main(["plan"]) == entry.NO
    assert capsys.readouterr().err == "error: No space left on device\n"


def test_a_closed_standard_output_is_said(monkeypatch, capsys):
    """`lws-volcano plan >&-` in a shell."""
    monkeypatch.setattr(entry.sys, "stdout", None)
    code = entry.main(["plan"])
    monkeypatch.undo()
    assert code == entry.NO
    assert capsys.readouterr().err == "error: standard output is closed\n"


def test_interrupt_is_quiet(command, capsys):
    """Ctrl-C is no error to explain."""
    command(raising(KeyboardInterrupt()))
    assert entry.main(["plan"]) == entry.INTERRUPTED
    assert capsys.readouterr().err == ""


def test_interrupt_while_a_command_is_loaded_is_quiet(monkeypatch, capsys):
    """Half of the time of a short command is imports."""
    monkeypatch.setattr(entry, "_load", raising(KeyboardInterrupt()))
    assert entry.main(["plan"]) == entry.INTERRUPTED
    assert capsys.readouterr().err == ""


def test_help_imports_no_command_and_no_heavy_library():
    """`--help` must be instant: neither the API client nor networkx nor pydantic."""
    code = (
        "import sys; from lws_volcano.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'kubernetes_asyncio', 'networkx', 'pydantic', 'aiohttp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
