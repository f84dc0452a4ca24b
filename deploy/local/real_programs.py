"""The real LWS manager and Volcano programs on a local control plane."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from deploy.local.errors import LocalError

if TYPE_CHECKING:
    from deploy.local.control_plane import ControlPlane

__all__ = ["RealLws", "RealVolcano"]

PREFIX: Final = "LWS_VOLCANO_TEST_"


@dataclass(frozen=True)
class RealLws:
    """The LeaderWorkerSet manager."""

    program: Path

    @classmethod
    def from_environment(cls) -> Self | None:
        """None where the variable is not set."""
        program = named("LWS_MANAGER")
        return cls(program) if program else None

    async def start(self, plane: "ControlPlane") -> tuple[str, ...]:
        """Start it."""
        raise NotImplementedError(plane)


@dataclass(frozen=True)
class RealVolcano:
    """Volcano's three programs."""

    scheduler: Path
    controller_manager: Path
    webhook_manager: Path

    @classmethod
    def from_environment(cls) -> Self | None:
        """None where no variable is set."""
        return None

    async def start(self, plane: "ControlPlane", period: float) -> tuple[str, ...]:
        """Start them."""
        raise NotImplementedError(plane, period)


def named(name: str) -> Path | None:
    """Program that an environment variable names."""
    value = os.environ.get(PREFIX + name, "")
    if not value:
        return None
    program = Path(value)
    if not os.access(program, os.X_OK):
        raise LocalError(f"{PREFIX}{name}={value}: no such program; name an executable file, or unset it")
    return program
