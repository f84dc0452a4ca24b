"""The commands `topology validate`, `show` and `hypernodes`: output, messages, exit codes."""

import json
from pathlib import Path

import pytest
import yaml

from lws_volcano.cli.main import main

GOOD = """kind: ClusterTopology
metadata: {name: dc1}
spec:
  tiers: [{name: rack}, {name: spine}]
  domains:
    - {name: s, tier: spine}
    - {name: r1, tier: rack, parent: s, nodes: ["n[1-2]"]}
    - {name: r2, tier: rack, parent: s, nodeSelector: {matchLabels: {rack: r2}}}
"""
NODES = """kind: List
items:
- {kind: Node, metadata: {name: n1}}
- {kind: Node, metadata: {name: m1, labels: {rack: r2}}}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good file, a bad one and nodes."""
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text(GOOD)
    Path("bad.yaml").write_text(GOOD.replace("parent: s, nodes", "parent: t, nodes"))
    Path("nodes.yaml").write_text(NODES)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, output, messages."""
    code = main(["topology", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.usefixtures("files")
def test_validate(capsys: pytest.CaptureFixture[str]) -> None:
    """0 and a summary, or 1 and reasons on standard error; with --keep-going what is sound is accepted."""
    code, out, err = run(capsys, "validate", "good.yaml", "--nodes", "nodes.yaml")
    assert (code, out) == (0, "good.yaml: valid: 2 nodes, 3 domains, 2 tiers, 1 tree, 0 nodes in no domain\n")
    assert "warning: good.yaml: 1 of 2 nodes in the document are not in the cluster: n2" in err
    code, out, err = run(capsys, "validate", "bad.yaml")
    assert (code, out) == (1, "bad.yaml: refused\n")
    assert err.startswith("error: bad.yaml:7: domain 'r1' has the parent 't'")
    code, out, err = run(capsys, "validate", "--keep-going", "bad.yaml")
    assert code == 0
    assert "bad.yaml:7: domain 'r1' has the parent 't'" in err
    assert out.startswith("bad.yaml: valid in part: 2 nodes")


@pytest.mark.usefixtures("files")
def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    """Tree, JSON and SVG; nothing on standard output when refused."""
    assert "├─ r1 (rack, 2 nodes): n[1-2]" in run(capsys, "show", "good.yaml")[1]
    shown = json.loads(run(capsys, "show", "-o", "json", "good.yaml", "--nodes", "nodes.yaml")[1])
    assert {d["name"]: d["nodes"] for d in shown["domains"]} == {"s": ["n1", "m1"], "r1": ["n1"], "r2": ["m1"]}
    assert run(capsys, "show", "-o", "svg", "good.yaml")[1].startswith("<svg ")
    assert run(capsys, "show", "bad.yaml")[:2] == (1, "")


@pytest.mark.usefixtures("files")
def test_hypernodes(capsys: pytest.CaptureFixture[str]) -> None:
    """YAML documents in an order in which they can be applied, or a JSON list."""
    found = list(yaml.safe_load_all(run(capsys, "hypernodes", "good.yaml")[1]))
    assert [(h["metadata"]["name"], h["spec"]["tier"]) for h in found] == [("dc1.r1", 1), ("dc1.s", 2)]
    assert json.loads(run(capsys, "hypernodes", "good.yaml", "-o", "json")[1])["items"] == found


@pytest.mark.usefixtures("files")
def test_files_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 1."""
    code, out, err = run(capsys, "validate", "absent.yaml")
    assert (code, out) == (1, "")
    assert err == "error: absent.yaml: can't be read: No such file or directory; check the path\n"
    assert "has no Node" in run(capsys, "validate", "good.yaml", "--nodes", "good.yaml")[2]
