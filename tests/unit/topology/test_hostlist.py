"""Host ranges: expansion, refusals, compression. Left out: where files use them (test_file, importers)."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.hostlist import compress, expand, expand_all, natural


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("n[001-003,020]", ["n001", "n002", "n003", "n020"]),
        ("n[1-2]-ib[0-1]", ["n1-ib0", "n1-ib1", "n2-ib0", "n2-ib1"]),
        ("rack[1-2]node[01-02],login1", ["rack1node01", "rack1node02", "rack2node01", "rack2node02", "login1"]),
        ("n[8-11],n[098-101]", ["n8", "n9", "n10", "n11", "n098", "n099", "n100", "n101"]),
        ("n[017,018-019]x, y1", ["n017x", "n018x", "n019x", "y1"]),
        ("n[0-2]", ["n0", "n1", "n2"]),
        ("a,a", ["a", "a"]),
    ],
)
def test_expansion(expression: str, names: list[str]) -> None:
    """Padding is kept, several brackets make a product, repeats stay."""
    assert expand(expression) == names


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("gpu[5-2]", "reversed range 5-2"),
        ("cab[a,b]-[1]", "'a' in brackets"),
        ("n[0-99999999]", "more than 100000 names"),
        ("n[0-999]-[0-999]", "more than 100000 names"),
        ("n[1,,3]", "an empty element in brackets"),
        ("a,,b", "an empty element"),
        ("", "an empty element"),
        ("n[1", "unbalanced brackets"),
        ("n]1[", "unbalanced brackets"),
        ("n[1-016]", "pads the ends"),
        ("a b", "a blank inside a name"),
    ],
)
def test_refusals(expression: str, complaint: str) -> None:
    """What is no host list is refused in words, long lists before they are made."""
    with pytest.raises(TopologyError, match=complaint.replace("[", r"\[")) as caught:
        expand(expression)
    assert caught.value.mend


def test_the_limit_counts_for_all_lists_together() -> None:
    """Many lists below the limit may be above it in sum."""
    assert len(expand_all(["a[1-3]", "b[1-3]"], limit=6)) == 6
    with pytest.raises(TopologyError):
        expand_all(["a[1-3]", "b[1-3]"], limit=5)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.from_regex(r"\A[a-z]{0,2}[0-9]{0,4}[a-z]?[0-9]{1,3}[a-z]?\Z"), max_size=30))
def test_compression_is_undone_by_expansion(names: set[str]) -> None:
    """No name lost, none invented, whatever the padding."""
    assert set(expand_all(compress(names))) == names


@given(st.text("n0123456789[],- x\n٣", max_size=20))
def test_any_text_expands_or_is_refused(text: str) -> None:
    """Never another exception."""
    with contextlib.suppress(TopologyError):
        assert expand(text, limit=1000)


def test_compression_is_short() -> None:
    """Ranges, not lists."""
    assert compress(f"n{i}" for i in range(8, 1200)) == ["n[8-1199]"]


@given(st.lists(st.text("ab01", max_size=5), max_size=10))
def test_natural_order_is_total(names: list[str]) -> None:
    """Equal keys only for equal names, so that sorting does not depend on the order of the input."""
    backwards = names[::-1]
    assert sorted(names, key=natural) == sorted(backwards, key=natural)
    assert sorted(["r10", "r9", "r" + "1" * 5000], key=natural) == ["r9", "r10", "r" + "1" * 5000]
