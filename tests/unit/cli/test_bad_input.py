"""What a stranger may hand to the offline commands: broken files, wrong types, slips of the keyboard.

Each gives the exit code of CONTRACTS section 4 and one message that says what, where and how to mend it; nothing on
standard output, never a traceback. Left out: formats of `topology import` (tests/unit/topology_importers).
"""

import gzip
import json

import pytest

from lws_volcano.cli.main import main

LWS = "kind: LeaderWorkerSet\nmetadata: {name: d, annotations: {lws-volcano.io/gang: 'true'}}\nspec: %s\n"
TOPOLOGY = "apiVersion: lws-volcano.io/v1alpha1\nkind: ClusterTopology\nmetadata: {name: dc}\nspec:\n"
RACK = '{"kind": "Node", "metadata": {"name": "%s"}}'


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder that holds one file, `in`; gives exit code, output and error."""
    monkeypatch.chdir(tmp_path)

    def command(content, *words):
        (tmp_path / "in").write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(list(words))
        return code, *capsys.readouterr()

    return command


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "in: is empty"),
        ("---\n# nothing\n---\n", "in: is empty"),
        ('{"kind": "List", "items": [{"kind": "No', "in:1: "),
        ("kind: Node\nmetadata:\n\tname: a\n", "in:3: is not YAML"),
        ("kind: Node\nmetadata: {name: a}\nmetadata: {name: b}\n", "in:3: is not YAML: key 'metadata' stands twice"),
        ("kind: Node\n---\n- 1\n", "in:3: holds no Kubernetes object"),
        ('{"a":' * 50000, "in"),
        ("kind: Node\nmetadata: &a {name: x, labels: *a}\n", "Node x: metadata.labels"),
        (gzip.compress(b"kind: Node\n" * 99, mtime=0)[:40], "in: ends in the middle of its gzip data"),
        ("kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: lots}}\n", "'lots' is not a quantity"),
        (LWS % "{replicas: many}", "LeaderWorkerSet d: spec.replicas"),
        (LWS % "{replicas: 99999999999999999999, leaderWorkerTemplate: {size: 2}}", "more pods than a plan can show"),
        (LWS % "{leaderWorkerTemplate: {size: 2147483647}}", "more pods than a plan can show"),
        (TOPOLOGY + "  tiers: [{name: rack}]\n  domains:\n    - {name: r, tier: hall}\n", "in:7: domain 'r'"),
    ],
    # The time of packing or 300 KB of brackets would make ids that differ between workers or cannot be read.
    ids=lambda value: value[:40] if isinstance(value, str) else "gzip",
)
def test_plan_says_what_where_and_how(run, content, said):
    """Exit code 1, one line."""
    code, out, err = run(content, "plan", "-f", "in", "-o", "json")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert "; " in err
    assert said in err
    assert "unexpected" not in err.replace("unexpected end", "")


def test_json_objects_one_after_the_other(run):
    """As `kubectl get -o json` of several kinds leaves them when joined with cat."""
    code, out, err = run(f"{RACK % 'a'}\n{RACK % 'a'}\n", "plan", "-f", "in", "-o", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["warnings"] == ["in (document 2): Node a comes twice; the last one counts"]


def test_an_empty_list_is_no_fault(run):
    """There may be no pods yet."""
    assert run("kind: List\nitems: []\n", "plan", "-f", "in")[0] == 0


def test_names_that_no_terminal_shows(run):
    """Half of a surrogate pair is escaped instead of ending in a traceback."""
    code, out, _ = run(RACK.replace("Node", "Gadget") % "\\ud800", "plan", "-f", "in", "-o", "json")
    assert (code, json.loads(out)["warnings"]) == (0, ["passed over: Gadget"])


def test_numbers_in_host_lists_keep_their_zeros(run):
    """A topology among other documents is read as one in a file of its own."""
    text = TOPOLOGY + "  tiers: [{name: rack}]\n  domains: [{name: 010, tier: rack, nodes: [007, on]}]\n"
    nodes = [
        f"kind: Node\nmetadata: {{name: '{name}'}}\nstatus: {{allocatable: {{pods: 1}}}}" for name in ("007", "on")
    ]
    lws = LWS % "{leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {schedulerName: volcano, containers: [{}]}}}}"
    code, out, _ = run("\n---\n".join([text, *nodes, lws]), "plan", "-f", "in", "-o", "json")
    (group,) = json.loads(out)["groups"]
    assert code == 0
    assert group["domain"]["name"] == "010"
    assert {pod["node"] for pod in group["pods"]} == {"007", "on"}


def test_plan_keeps_going_where_a_domain_is_faulty(run):
    """Refused without the flag, a warning with it."""
    domains = "[{name: r, tier: rack, nodes: [a]}, {name: x, tier: hall}]"
    text = TOPOLOGY + f"  tiers: [{{name: rack}}]\n  domains: {domains}\n"
    assert run(text, "plan", "-f", "in")[0] == 1
    code, out, _ = run(text, "plan", "-f", "in", "--keep-going", "-o", "json")
    assert code == 0
    assert any("domain 'x'" in warning for warning in json.loads(out)["warnings"])


@pytest.mark.parametrize(
    ("command", "path", "said"),
    [
        (["plan", "-f"], "absent", "No such file"),
        (["plan", "-f"], ".", "holds no .yaml"),
        (["topology", "validate"], "absent", "No such file"),
        (["topology", "show"], ".", "Is a directory"),
    ],
)
def test_paths_that_are_no_files(run, command, path, said):
    """Named, exit code 1."""
    code, out, err = run("", *command, path)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {path}: ")
    assert said in err


@pytest.mark.parametrize("words", [["status"], ["plan", "--from-cluster"]])
@pytest.mark.parametrize("content", ["", "{}", "- 1", "\x00", "apiVersion: v1\nkind: Config\n"])
def test_a_kubeconfig_that_is_none(run, words, content):
    """Exit code 3: no cluster can be reached with it."""
    code, out, err = run(content, *words, "--kubeconfig", "in")
    assert (code, out) == (3, "")
    assert err.startswith("error: ")
    assert "configuration" in err
    assert "object" not in err.replace("Expected object", "")
