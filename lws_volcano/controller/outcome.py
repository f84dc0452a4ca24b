"""How a pass can end."""

from dataclasses import dataclass

__all__ = ["Failed", "Ok", "Outcome", "RequeueAfter", "Terminal"]


@dataclass(frozen=True, slots=True)
class Ok:
    """Nothing to do until something changes."""


@dataclass(frozen=True, slots=True)
class RequeueAfter:
    """Look again after some time, without anything having failed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """Try again with growing delay; `at_least` is what the server asked for, in seconds."""

    error: Exception
    at_least: float = 0.0


@dataclass(frozen=True, slots=True)
class Terminal:
    """Trying again cannot help: wait for somebody to change something."""

    error: Exception


Outcome = Ok | RequeueAfter | Failed | Terminal
