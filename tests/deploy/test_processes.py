"""Child processes and the watchdog behind them.

Covers: early ends are told with the last log lines, whole groups are stopped, a killed parent leaves no child and no
folder, a process id that has changed hands is left alone. Leaves out: the programs of the control plane.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deploy.local import watchdog
from deploy.local.errors import LocalError
from deploy.local.processes import Supervisor

ROOT = Path(__file__).parents[2]
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def _wait(condition: object, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_early_end_is_told_with_its_last_words(tmp_path: Path) -> None:
    """The message has the exit code and the end of the log."""
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.start("teller", [sys.executable, "-c", "print('no such key'); raise SystemExit(3)"])
        _wait(lambda: not child.running)
        with pytest.raises(LocalError, match=r"teller ended with code 3[^$]*no such key"):
            child.check()


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """No traceback of an OSError."""
    with Supervisor(tmp_path) as supervisor, pytest.raises(LocalError, match="cannot start /nowhere/at-all"):
        supervisor.start("ghost", ["/nowhere/at-all"])


def test_stopping_ends_the_whole_group(tmp_path: Path) -> None:
    """A grandchild goes too, and the same name can be started again."""
    script = (
        "import subprocess, sys; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); import time; time.sleep(600)"
    )
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.start("parent", [sys.executable, "-c", script, *SLEEP])
        _wait(lambda: child.log.read_text().strip())
        grandchild = int(child.log.read_text())
        supervisor.stop("parent")
        _wait(lambda: _gone(grandchild))
        assert supervisor.start("parent", SLEEP).running


def test_one_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    """After its grace the other signal follows."""
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    )
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.start("stubborn", [sys.executable, "-c", script])
        _wait(lambda: child.log.read_text().strip())
        child.stop(grace=0.2)
        assert child.exit_code == -signal.SIGKILL


def test_a_killed_parent_leaves_nothing(tmp_path: Path) -> None:
    """The watchdog ends its children and removes its folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom deploy.local.processes import Supervisor\n"
        f"supervisor = Supervisor(Path({str(tmp_path)!r}))\n"
        f"supervisor.remove_when_killed(Path({str(folder)!r}))\n"
        f"print(supervisor.start('child', {SLEEP!r}).pid, flush=True)\ntime.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _wait(lambda: _gone(child) and not folder.exists())


def test_a_process_id_that_changed_hands_is_left_alone() -> None:
    """Registered with another start time, it belongs to somebody else now."""
    stranger = subprocess.Popen(SLEEP, start_new_session=True)
    guard = subprocess.Popen([sys.executable, "-I", "-S", watchdog.__file__], stdin=subprocess.PIPE, text=True)
    guard.communicate(f"add {stranger.pid} 1\n")
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_stopped_process_is_dropped() -> None:
    """The watchdog forgets what was stopped in the normal way."""
    groups = {7: "1"}
    watchdog._obey("drop 7\n", groups, [])
    assert not groups
