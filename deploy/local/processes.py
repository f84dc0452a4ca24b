"""Child processes: each in a group of its own, its output in a file, and none left behind.

A `Supervisor` stops what it started and nothing else. Should it be killed itself, `watchdog` does it in its place.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from deploy.local import watchdog
from deploy.local.errors import LocalError

__all__ = ["Child", "Supervisor"]

LOG_LINES: Final = 15
GRACE: Final = 8.0
"""Seconds between the polite signal and the other one."""


class Child:
    """One running program.

    Attributes
    ----------
    name : str
        What people call it.
    log : Path
        Its standard output and error.
    """

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.log = log
        self._process = process

    @property
    def pid(self) -> int:
        """Process id, also the id of its process group."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """It has not ended yet."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for a signal, None while it runs."""
        return self._process.poll()

    def last_lines(self, count: int = LOG_LINES) -> str:
        """The end of its log."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(line[:500] for line in lines[-count:])

    def check(self) -> None:
        """Raise LocalError with the last log lines where it has ended."""
        if not self.running:
            raise LocalError(
                f"{self.name} ended with code {self.exit_code}, last lines of {self.log}:\n{self.last_lines()}"
            )

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to its whole group; nothing happens where it has ended."""
        if self.running:
            os.killpg(self.pid, number)

    def stop(self, grace: float = GRACE) -> None:
        """End it, politely first."""
        self.signal(signal.SIGTERM)
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.signal(signal.SIGKILL)
        self._process.wait()


class Supervisor:
    """Starts programs and answers for their end.

    Parameters
    ----------
    logs : Path
        Folder of the log files; one a program, appended to when it is started again.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._children: dict[str, Child] = {}
        self._watchdog: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_all()

    @property
    def children(self) -> Mapping[str, Child]:
        """What was started and not stopped, in order of start."""
        return dict(self._children)

    def remove_when_killed(self, folder: Path) -> None:
        """Have a folder removed should this process be killed; in the normal case its owner does it."""
        self._tell(f"folder {folder}")

    def start(self, name: str, argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Child:
        """Start a program; `env` is added to ours.

        Raises
        ------
        LocalError
            It can't be started at all, or one of that name runs.
        """
        if name in self._children and self._children[name].running:
            raise LocalError(f"{name} runs already")
        log = self._logs / f"{name}.log"
        with log.open("ab") as output:
            process = self._spawn(argv, output.fileno(), {**os.environ, **(env or {})})
        self._tell(f"add {process.pid} {watchdog.start_time(process.pid)}")
        child = self._children[name] = Child(name, process, log)
        return child

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End one program; nothing happens where none of that name was started."""
        child = self._children.pop(name, None)
        if child is None:
            return
        if kill:
            child.kill()
        else:
            child.stop()
        self._tell(f"drop {child.pid}")

    def stop_all(self) -> None:
        """End everything: all but the first are asked at once, then awaited, last started first."""
        for child in list(self._children.values())[1:]:
            child.signal(signal.SIGTERM)
        for name in reversed(list(self._children)):
            self.stop(name)
        if self._watchdog is not None:
            self._watchdog.communicate()
            self._watchdog = None

    def _spawn(self, argv: Sequence[str | Path], output: int, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [str(part) for part in argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise LocalError(f"cannot start {argv[0]}: {error.strerror or error}") from error

    def _tell(self, line: str) -> None:
        if self._watchdog is None:
            self._watchdog = subprocess.Popen(
                [sys.executable, "-I", "-S", watchdog.__file__],
                stdin=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.write(line + "\n")
            self._watchdog.stdin.flush()
