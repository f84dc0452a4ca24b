"""Topology files: decoding, the schema, and that every complaint names the line.

Left out: what the parts of a document mean together (test_build).
"""

import gzip
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.build import build
from lws_volcano.topology.file import Source, parse_nodes, parse_topologies
from lws_volcano.topology.findings import InvalidTopologyError

GOOD = b"""apiVersion: lws-volcano.io/v1alpha1
kind: ClusterTopology
metadata:
  name: dc1
spec:
  tiers:
    - {name: rack, bandwidth: 50GB/s}
    - {name: spine, bandwidth: 12.5}
  domains:
    - {name: spine-1, tier: spine}
    - {name: rack-1, tier: 1, parent: spine-1, nodes: ["gpu-[001-016]", gpu-020]}
    - name: 012
      tier: rack
      nodes: on
"""


def parse(data: bytes, *, keep_going: bool = False) -> Source:
    """The one document of a file."""
    (source,) = parse_topologies(data, "t.yaml", keep_going=keep_going)
    return source


def findings(data: bytes) -> list[str]:
    """Why a file is refused."""
    with pytest.raises(InvalidTopologyError) as caught:
        parse(data)
    return [str(finding) for finding in caught.value.findings]


def test_a_good_file() -> None:
    """Scalars are read as YAML 1.2: names stay as they are written."""
    document = parse(GOOD).document
    assert [entry.name for entry in document.spec.domains] == ["spine-1", "rack-1", "012"]
    assert document.spec.domains[2].nodes == ("on",)
    assert len(build(document).nodes) == 18


@pytest.mark.parametrize(
    "wrap",
    [
        gzip.compress,
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.decode().encode("utf-16"),
        lambda data: b"# site\n---\n" + data + b"---\n",
        lambda data: b"kind: Node\nmetadata: {name: gpu-001}\n---\n" + data,
    ],
    ids=["gzip", "bom", "crlf", "utf-16", "empty documents", "other kinds"],
)
def test_forms_of_a_file(wrap: Callable[[bytes], bytes]) -> None:
    """Packed, marked, from Windows, with others beside it."""
    assert parse(wrap(GOOD)).document == parse(GOOD).document


def test_json_and_lists() -> None:
    """What kubectl prints."""
    raw = b'{"kind": "List", "items": [{"kind": "ClusterTopology", "metadata": {"name": "a", "uid": "x"}, "spec": {}}]}'
    assert parse(raw).document.name == "a"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "t.yaml: is empty"),
        (b"# nothing\n\n", "t.yaml: is empty"),
        (b"a: [1", "t.yaml:2: is not YAML"),
        (b"a: 1\nb: 2\na: 3\n", "t.yaml:3: is not YAML: key 'a' stands twice"),
        (b"kind: Node\n", "has no ClusterTopology, but Node"),
        (b"SwitchName=a Nodes=b\n", "has no ClusterTopology"),
        (b"\xff\x00\xff", "is not UTF-8"),
        (b"\x00", "is not YAML"),
        (b"- " * 20000, "nesting depth"),
        (b"[" * 20000, "nesting depth"),
        (b"&a [*a]", "has no ClusterTopology"),
        (gzip.compress(GOOD, mtime=0)[:40], "cannot be unpacked"),
        (b"a: !!python/object:os.system {}", "could not determine a constructor"),
        (b"? [a]\n: b\n", "unhashable"),
    ],
)
def test_what_is_no_file(data: bytes, complaint: str) -> None:
    """A sentence with the place, whatever the bytes."""
    with pytest.raises(TopologyError) as caught:
        parse(data)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"bandwidth: 50", b"bandwith: 50", "t.yaml:7: unknown field 'bandwith'; did you mean 'bandwidth'?"),
        (b"tier: 1,", b"tier: 1.5,", "t.yaml:11: spec.domains.tier should be a name or a whole number, not '1.5'"),
        (b"{name: spine-1, tier: spine}", b"{tier: spine}", "t.yaml:10: 'name' is missing"),
        (b"      tier: rack\n", b"", "t.yaml:12: 'tier' is missing"),
        (b"name: 012", b"name: []", "t.yaml:12: spec.domains.name should be text, not a list"),
        (b"{name: spine-1, tier: spine}", b"spine-1", "t.yaml:10: spec.domains should be a mapping, not 'spine-1'"),
        (b"spec:\n", b"spec:\n  colour: red\n", "t.yaml:6: unknown field 'colour'; known are tiers, domains"),
        (b"v1alpha1", b"v2", "t.yaml:1: apiVersion"),
    ],
)
def test_schema_faults_name_the_line(old: bytes, new: bytes, complaint: str) -> None:
    """Every fault of a document, each with its line."""
    assert old in GOOD
    assert findings(GOOD.replace(old, new, 1))[0].startswith(complaint)


def test_faults_between_domains_name_the_line() -> None:
    """What only building finds has its line too, the other place of a repeated name included."""
    data = GOOD + b"    - {name: rack-1, tier: rack, nodes: [x]}\n"
    source = parse(data)
    with pytest.raises(InvalidTopologyError) as caught:
        build(source.document, origin=source.origin)
    assert str(caught.value).startswith("t.yaml:15: domain 'rack-1' is defined twice, before at t.yaml:11")


def test_keep_going_leaves_faulty_entries_out() -> None:
    """The others keep their lines."""
    data = GOOD.replace(b"{name: spine-1, tier: spine}", b"{tier: spine}").replace(b"nodes: on", b"nodes: 'a[2-1]'")
    source = parse(data, keep_going=True)
    assert [entry.name for entry in source.document.spec.domains] == ["rack-1", "012"]
    assert "t.yaml:10: 'name' is missing" in str(source.findings[0])
    topology = build(source.document, keep_going=True, origin=source.origin)
    assert any("t.yaml:14: 'a[2-1]' has the reversed range" in str(f) for f in topology.warnings)


def test_nodes_beside_the_topology() -> None:
    """Node documents of any file."""
    assert parse_nodes(GOOD, "t.yaml") is None
    found = parse_nodes(b"kind: NodeList\nitems:\n- {kind: Node, metadata: {name: a, labels: {x: y}}}\n", "n.yaml")
    assert found is not None
    assert found[0].metadata.labels == {"x": "y"}
    with pytest.raises(TopologyError, match=r"without metadata\.name"):
        parse_nodes(b"kind: Node\n", "n.yaml")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutilated_files_are_read_or_refused(data: st.DataObject) -> None:
    """Cut, changed and doubled bytes: a document or a refusal."""
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 40)))
    broken = GOOD[:start] + data.draw(st.binary(max_size=6)) + GOOD[end:]
    try:
        source = parse(broken, keep_going=True)
        build(source.document, keep_going=True, origin=source.origin)
    except TopologyError as error:
        assert str(error)  # noqa: PT017 - either outcome is right


def test_aliases_do_not_multiply() -> None:
    """A few bytes that stand for a billion values are refused before they are unfolded."""
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 12)]
    data = b"kind: ClusterTopology\nspec: {domains: *a11}\n" + b"\n".join(lines)
    with pytest.raises(TopologyError):
        parse(b"\n".join([*lines, b"kind: ClusterTopology", b"spec: {domains: *a11}"]))
    with pytest.raises(TopologyError):
        parse(data)
