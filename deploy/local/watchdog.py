"""Ends our child processes when their parent is gone, however it went (Ctrl-C, crash, SIGKILL).

Run as a process of its own with a pipe on standard input, standard library only. Lines it understands:

    add PID START      a process group to end; START is the kernel's start time of its leader, "" where unknown
    drop PID           it has been stopped in the normal way
    folder PATH        a temporary folder to remove at the end

End of file means that the parent is gone. A process id that meanwhile belongs to another program is left alone: its
start time differs.
"""

import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path


def start_time(pid: int) -> str:
    """When the process started, in the kernel's ticks; empty where /proc does not say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _obey(line: str, groups: dict[int, str], folders: list[str]) -> None:
    verb, _, rest = line.rstrip("\n").partition(" ")
    if verb == "folder":
        folders.append(rest)
        return
    pid, _, started = rest.partition(" ")
    if verb == "add":
        groups[int(pid)] = started
    else:
        groups.pop(int(pid), None)


def main() -> None:
    """Wait for the parent's end, then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: dict[int, str] = {}
    folders: list[str] = []
    for line in sys.stdin:
        _obey(line, groups, folders)
    for pid, started in groups.items():
        if started == start_time(pid):
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
