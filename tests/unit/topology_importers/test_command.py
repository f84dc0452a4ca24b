"""`topology import` as a command: exit codes, what goes to which output, files as they come.

Leaves out the formats themselves.
"""

import gzip
import json
from pathlib import Path

import pytest
import yaml

from lws_volcano.cli.main import main
from tests.unit.topology_importers.builders import DATA

TREE = "SwitchName=a Nodes=n[1-2]\nSwitchName=top Switches=a\nSwitchName=stor Nodes=n[1-2]\n"


def run(*words: str) -> int:
    """Exit code of the command."""
    return main(["topology", "import", *words])


def test_the_document_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing else does."""
    assert run("--from", "slurm-conf", str(DATA / "tree.conf")) == 0
    printed = capsys.readouterr()
    assert yaml.safe_load(printed.out)["kind"] == "ClusterTopology"
    assert printed.err == ""


@pytest.mark.parametrize("keep_going", [False, True])
def test_errors_are_all_listed_and_nothing_is_printed(
    keep_going: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1; on request the rest is imported and the errors are warnings."""
    path = tmp_path / "topology.conf"
    path.write_text("SwitchName=a Nodes=n[2-1]\nSwitchName=b Nodes=n[1-2]\nSwitchNam=c\n")
    code = run("--from", "slurm-conf", str(path), *(["--keep-going"] if keep_going else []))
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert [line.partition(": ")[0] for line in lines] == (["warning"] * 2 if keep_going else ["error"] * 2)
    assert [f"topology.conf:{at}:" in line for at, line in zip((1, 3), lines, strict=True)] == [True, True]
    assert (code, bool(printed.out)) == ((0, True) if keep_going else (1, False))


def test_a_file_of_another_format_has_its_first_errors_and_a_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every line of it is wrong, and nobody reads them all."""
    path = tmp_path / "notes.conf"
    path.write_text("this is no topology\n" * 123)
    assert run("--from", "slurm-conf", str(path)) == 1
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert [f"notes.conf:{at}:" in line for at, line in enumerate(lines[:-1], start=1)] == [True] * 10
    assert (lines[-1], printed.out) == ("error: and 113 more", "")


def test_a_broken_file_is_an_error_without_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not there, not text, of another format."""
    (tmp_path / "zero").write_bytes(b"\0\1\2")
    for path in (tmp_path / "gone", tmp_path / "zero", DATA / "graph.json", tmp_path):
        assert run("--from", "slurm-conf", str(path)) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("error: ")


def test_wrong_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown format, and a format that was not named."""
    for words in (["--from", "cisco", "x"], [str(DATA / "tree.conf")]):
        with pytest.raises(SystemExit) as caught:
            run(*words)
        assert caught.value.code == 2
    assert "--from" in capsys.readouterr().err


def test_gzip_names_of_nodes_switches_to_ignore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options together: a packed file, nodes as plain names, host ranges to ignore, JSON."""
    packed = tmp_path / "topology.conf.gz"
    packed.write_bytes(gzip.compress(TREE.encode()))
    names = tmp_path / "nodes.txt"
    names.write_text("# kubectl get nodes -o name\nnode/n1\nnode/n3\n")
    words = ["--nodes", str(names), "--topology-name", "Site_A", "-o", "json", "--ignore", "stor", "old[1-2]"]
    assert run("--from", "slurm-conf", str(packed), *words) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["metadata"]["name"] == "site-a"
    assert [domain["nodes"] for domain in document["spec"]["domains"]] == [["n1"]]
    assert "old1, old2" in printed.err
    assert "n3" in printed.err


def test_levels_of_labels(capsys: pytest.CaptureFixture[str]) -> None:
    """--level KEY for each, closest first."""
    words = ["--level", "example.com/rack", "--level", "example.com/block"]
    assert run("--from", "node-labels", str(DATA / "labelled.yaml"), *words) == 0
    assert [tier["name"] for tier in yaml.safe_load(capsys.readouterr().out)["spec"]["tiers"]] == ["rack", "block"]
