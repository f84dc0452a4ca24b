"""Building and caching the programs, with a false Go in the place of the real one.

Covers: the search for Go, the cache and its key, a failed build's message. Leaves out: real builds, which take minutes;
every integration run does one on a fresh machine.
"""

from pathlib import Path

import pytest

from deploy.local import binaries as building
from deploy.local import toolchain as chain
from deploy.local.errors import BuildError

GO = """#!/bin/sh
if [ "$1" = env ]; then echo {version}; exit 0; fi
{build}
"""
WORKS = """while [ "$1" != -o ]; do shift; done
echo built >"$2"; echo "$3" >>"$0.log"
"""
FAILS = """echo "cannot find module" >&2; exit 1
"""


def _go(folder: Path, version: str = "go1.26.4", build: str = WORKS) -> Path:
    program = folder / "go"
    program.write_text(GO.format(version=version, build=build))
    program.chmod(0o755)
    return program


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lws-volcano"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go that builds everything at once."""
    program = _go(tmp_path)
    monkeypatch.setattr(building, "find_toolchain", lambda: chain.Toolchain(program, "go1.26.4"))
    return program


@pytest.mark.usefixtures("cache")
def test_programs_are_built_once(go: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The second call builds nothing and needs no Go."""
    first = building.binaries()
    assert all(first[program.name].read_text() == "built\n" for program in building.PROGRAMS)
    assert "[1/4] building etcd" in capfd.readouterr().err
    go.unlink()
    assert building.binaries().folder == first.folder


@pytest.mark.usefixtures("cache")
def test_only_what_is_missing_is_built(go: Path) -> None:
    """A removed binary comes back, the others stay."""
    built = building.binaries()
    built["kwok"].unlink()
    building.binaries()
    assert (go.parent / "go.log").read_text().split().count("sigs.k8s.io/kwok/cmd/kwok") == 2
    assert (go.parent / "go.log").read_text().split().count("go.etcd.io/etcd/server/v3") == 1


@pytest.mark.usefixtures("cache", "go")
def test_another_state_of_the_module_files_has_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade in go.mod builds anew."""
    before = building.binaries().folder
    changed = tmp_path / "modules"
    for module in building.MODULES.iterdir():
        (changed / module.name).mkdir(parents=True)
        for file in module.glob("go.*"):
            (changed / module.name / file.name).write_text(file.read_text() + "\n")
    monkeypatch.setattr(building, "MODULES", changed)
    assert building.binaries().folder != before


@pytest.mark.usefixtures("go")
def test_a_failed_build_says_what_and_how_to_mend_it(cache: Path, tmp_path: Path) -> None:
    """Program, last lines, the command to try by hand; nothing half-built is left."""
    _go(tmp_path, build=FAILS)
    with pytest.raises(BuildError, match=r"(?s)building etcd.*cannot find module.*By hand: cd"):
        building.binaries()
    assert not list(cache.rglob("etcd*"))


@pytest.mark.parametrize(("version", "usable"), [("go1.26", True), ("go1.27rc1", True), ("go1.25.9", False)])
def test_go_is_taken_from_1_26_on(tmp_path: Path, version: str, *, usable: bool) -> None:
    """Older ones and what is no Go at all are passed over."""
    assert (chain._usable(_go(tmp_path, version)) is not None) == usable


def test_kubernetes_reports_its_version() -> None:
    """Linker flags carry the version that go.mod names."""
    assert "gitVersion=v1.36" in building._flags("kubernetes")
    assert building._flags("etcd") == "-s -w"
