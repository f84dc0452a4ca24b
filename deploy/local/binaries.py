"""The programs of the control plane, built from the Go modules in `modules/` and kept in the user's cache folder.

One folder a state of the module files and Go version, so an upgrade builds anew and a second start builds nothing. A
file lock keeps two builds apart; a binary gets its name when it is whole.
"""

import fcntl
import hashlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local.errors import BuildError
from deploy.local.toolchain import Toolchain, cache_folder, find_toolchain

__all__ = ["PROGRAMS", "Binaries", "Program", "binaries"]

MODULES: Final = Path(__file__).parent / "modules"
TIMEOUT: Final = 3600.0
"""Seconds for one program; the API server takes about four minutes on two cores."""
ERROR_LINES: Final = 20


@dataclass(frozen=True)
class Program:
    """A program and the module of ours that builds it."""

    name: str
    module: str
    package: str


PROGRAMS: Final = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    Program("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    Program("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
)


@dataclass(frozen=True)
class Binaries:
    """A folder that holds every program."""

    folder: Path

    def __getitem__(self, name: str) -> Path:
        return self.folder / name

    def missing(self) -> list[Program]:
        """Programs that are not there yet."""
        return [program for program in PROGRAMS if not self[program.name].exists()]


def binaries() -> Binaries:
    """Every program, built now where it is missing; progress goes to standard error.

    Raises
    ------
    BuildError
        No usable Go, or a build failed.
    """
    known = _known()
    if known is not None:
        return known
    toolchain = find_toolchain()
    built = Binaries(cache_folder() / "bin" / _key(toolchain.version))
    built.folder.mkdir(parents=True, exist_ok=True)
    with _locked(built.folder / ".lock"):
        missing = built.missing()
        for position, program in enumerate(missing, 1):
            _build(program, built, toolchain, f"[{position}/{len(missing)}]")
    _remember(built)
    return built


def _key(go_version: str) -> str:
    digest = hashlib.sha256(go_version.encode())
    digest.update(_modules_digest())
    return digest.hexdigest()[:16]


def _modules_digest() -> bytes:
    digest = hashlib.sha256()
    for file in sorted(MODULES.glob("*/go.*")):
        digest.update(f"{file.parent.name}/{file.name}".encode())
        digest.update(file.read_bytes())
    for program in PROGRAMS:
        digest.update(_flags(program.module).encode())
    return digest.digest()


def _pointer() -> Path:
    return cache_folder() / "bin" / f"current-{_modules_digest().hex()[:16]}"


def _known() -> Binaries | None:
    """The folder used last for these module files: a second start needs no Go at all."""
    try:
        known = Binaries(cache_folder() / "bin" / _pointer().read_text(encoding="utf-8").strip())
    except OSError:
        return None
    return None if known.missing() else known


def _remember(built: Binaries) -> None:
    pointer = _pointer()
    fresh = pointer.with_suffix(".new")
    fresh.write_text(built.folder.name, encoding="utf-8")
    fresh.replace(pointer)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build is under way, waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(program: Program, into: Binaries, toolchain: Toolchain, position: str) -> None:
    target = into[program.name]
    fresh = target.with_suffix(".new")
    command: list[str | Path] = [
        toolchain.go,
        "build",
        "-trimpath",
        f"-ldflags={_flags(program.module)}",
        "-o",
        fresh,
        program.package,
    ]
    with _progress(f"{position} building {program.name}"):
        try:
            done = subprocess.run(
                command,
                cwd=MODULES / program.module,
                env=toolchain.environment(),
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BuildError(f"building {program.name} took more than {TIMEOUT / 60:.0f} minutes") from None
    if done.returncode:
        raise BuildError(_explain(program, done.stderr))
    fresh.replace(target)


def _flags(module: str) -> str:
    """Linker flags: no symbols, and for Kubernetes the version that its programs then report."""
    found = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", (MODULES / module / "go.mod").read_text("utf-8"))
    if found is None:
        return "-s -w"
    version, major, minor = found.groups()
    package = "k8s.io/component-base/version"
    return f"-s -w -X {package}.gitVersion={version} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}"


def _explain(program: Program, output: str) -> str:
    tail = "\n".join(output.strip().splitlines()[-ERROR_LINES:])
    return (
        f"building {program.name} ({program.package}) failed, last lines:\n{tail}\n"
        f"By hand: cd {MODULES / program.module} && CGO_ENABLED=0 go build {program.package}. "
        "Go has to reach its module proxy (GOPROXY), and needs about 3 GB on disk and 3 GB of memory."
    )


@contextmanager
def _progress(what: str) -> Iterator[None]:
    """Say what is going on: a running clock on a terminal, a line every 20 seconds elsewhere."""
    terminal = sys.stderr.isatty()
    began = time.monotonic()
    done = threading.Event()

    def say(text: str, end: str = "\n") -> None:
        lead = "\r" if terminal else ""
        print(f"{lead}{what}: {text}", end=end, file=sys.stderr, flush=True)

    def tick() -> None:
        while not done.wait(1 if terminal else 20):
            say(f"{time.monotonic() - began:.0f} s", end="" if terminal else "\n")

    say("started", end="" if terminal else "\n")
    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    except BaseException:
        say(f"stopped after {time.monotonic() - began:.0f} s")
        raise
    finally:
        done.set()
        clock.join()
    say(f"done in {time.monotonic() - began:.0f} s")
