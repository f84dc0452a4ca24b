"""Reading documents: formats, Lists, and what is said about files that hold something else.

Left out: what is made of the objects.
"""

import gzip
import json

import pytest

from lws_volcano.api.errors import InputError
from lws_volcano.cli.documents import read_documents

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"


@pytest.fixture
def file(tmp_path):
    """Write a file and give its path."""

    def write(content, name="in.yaml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def names(path):
    """Kind and name of every object in a file."""
    return [(document.kind, document.name) for document in read_documents([path])]


def test_several_documents_and_lists_in_one_file(file):
    """YAML streams, `kind: List`, typed lists without the kind of their items."""
    text = f"---\n{NODE}---\n---\n" + json.dumps(
        {"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "b"}}]}
    )
    text += "\n---\n" + json.dumps({"kind": "NodeList", "items": [{"metadata": {"name": "c"}}]})
    assert names(file(text)) == [("Node", "a"), ("Pod", "b"), ("Node", "c")]


@pytest.mark.parametrize(
    "pack", [str.encode, lambda text: gzip.compress(text.encode()), lambda text: b"\xef\xbb\xbf" + text.encode()]
)
def test_plain_gzip_and_byte_order_mark(file, pack):
    """What people have on disk."""
    assert names(file(pack(NODE))) == [("Node", "a")]


def test_dates_in_labels_stay_text(file):
    """YAML would make a date of it, Kubernetes does not."""
    document = read_documents([file("kind: Node\nmetadata: {name: a, labels: {since: 2024-01-01}}")])[0]
    assert document.view().metadata.labels == {"since": "2024-01-01"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: [", "in.yaml:"),
        ("- 1\n- 2\n", "no Kubernetes object"),
        ("metadata: {name: a}", "no Kubernetes object"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"\x1f\x8b broken", "can't be read"),
        ("[" * 5000, "in.yaml"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(file, content, said):
    """File, line where known, and how to mend it."""
    with pytest.raises(InputError, match=r"; ") as caught:
        read_documents([file(content)])
    assert said in str(caught.value)


def test_a_missing_file_is_named():
    """Not a traceback."""
    with pytest.raises(InputError, match=r"nowhere\.yaml: can't be read: No such file"):
        read_documents(["nowhere.yaml"])


def test_a_field_of_the_wrong_type_is_named(file):
    """Kind, name and the path of the field."""
    document = read_documents([file("kind: LeaderWorkerSet\nmetadata: {name: x}\nspec: {replicas: many}")])[0]
    with pytest.raises(InputError, match=r"LeaderWorkerSet x: spec\.replicas"):
        document.view()


def test_a_directory_is_its_manifests_by_name(tmp_path):
    """As kubectl takes it; other files and what lies deeper are passed over."""
    for name, kind in (("b.yaml", "Pod"), ("a.json", "Node"), ("README.md", "Nothing")):
        (tmp_path / name).write_text(json.dumps({"kind": kind, "metadata": {"name": "x"}}))
    (tmp_path / "deeper.yaml").mkdir()
    assert [document.kind for document in read_documents([str(tmp_path)])] == ["Node", "Pod"]
    with pytest.raises(InputError, match="holds no"):
        read_documents([str(tmp_path / "deeper.yaml")])
