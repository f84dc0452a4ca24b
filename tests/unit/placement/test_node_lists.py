"""Sequences of node names as host lists: order and repeats are kept, and neighbours fold into ranges."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lws_volcano.placement.node_lists import fold, unfold

NUMBERED = st.builds("{}{:03d}{}".format, st.sampled_from(["n", "gpu-", "r1-n"]), st.integers(0, 1200), st.just(""))
CLOUD = st.builds("ip-10-0-{}-{}.ec2.internal".format, st.integers(0, 9), st.integers(0, 255))
ANY = st.text(string.ascii_lowercase + string.digits + "-.", min_size=1, max_size=30)


@given(st.lists(st.one_of(NUMBERED, CLOUD, ANY), max_size=30))
def test_what_is_folded_unfolds_to_the_same(names):
    """In the same order, repeats included."""
    assert unfold(fold(names)) == tuple(names)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "a"], "a,a"),
        (["n08", "n09", "n10"], "n[08-10]"),
        (["n8", "n9", "n10"], "n[8-10]"),
        (["n2", "n1"], "n[2,1]"),
        (["n1", "n1", "n2", "n2"], "n[1,1-2,2]"),
        (["r1-n1", "r1-n2", "r2-n1"], "r1-n[1-2],r2-n1"),
        (["ip-10-0-3-9.local", "ip-10-0-3-10.local"], "ip-10-0-3-[9-10].local"),
    ],
)
def test_neighbours_share_their_name(names, text):
    """Wherever the number stands in it."""
    assert fold(names) == text
