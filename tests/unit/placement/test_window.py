"""The rank window: which nodes a rank prefers, in which proportion.

Terms only; which domains have a sequence is tested with landings, what the scheduler does with them is measured
(docs/hints.md).
"""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lws_volcano.placement.window import Landing, window


def terms(landings, rank):
    """Terms as text."""
    return [(weight, " ".join(nodes)) for weight, nodes in window(landings, rank)]


def test_a_rank_prefers_its_node_and_the_next_ones_less():
    """In the planned domain far above the others, in the same proportion in each."""
    here = Landing("r1", ("a1", "a2", "a3"), ("a4", "a5", "a6"))
    there = Landing("r2", ("b1", "b2", "b3"), ("b4",))
    elsewhere = Landing("r3", ("c1", "c2", "c3"))
    assert terms([here, there, elsewhere], 0) == [
        (100, "a1"), (50, "a2"), (25, "a3"), (13, "a4"),
        (8, "b1 c1"), (4, "b2 c2"), (2, "b3 c3"), (1, "b4"),
    ]  # fmt: skip
    assert terms([here], 2) == [(100, "a3"), (50, "a4"), (25, "a5"), (13, "a6")]


def test_ranks_that_share_a_node_have_the_same_window():
    """Two pods a node: it is first until it is full."""
    landing = Landing("r1", ("a1", "a1", "a2", "a2"), ("a3",))
    assert terms([landing], 0) == terms([landing], 1) == [(100, "a1"), (50, "a2"), (25, "a3")]
    assert terms([landing], 2) == [(100, "a2"), (50, "a3")]


def test_no_plan_no_terms():
    """Also for a rank that the plan does not know."""
    assert window([], 0) == []
    assert window([Landing("r1", ("a1",), ("a2",))], 1) == []


@given(st.data(), st.integers(1, 12), st.integers(1, 5))
def test_a_lost_node_shifts_the_ranks_and_keeps_their_order(data, size, lost):
    """Each pod takes its best free node in turn, as the scheduler does: places never fall."""
    names = [f"n{i:02d}" for i in range(size + 3)]
    gone = set(data.draw(st.lists(st.sampled_from(names), max_size=min(lost, 3), unique=True)))
    landing = Landing("r", tuple(names[:size]), tuple(names[size:]))
    taken = []
    for rank in range(size):
        score = Counter({node: weight for weight, nodes in window([landing], rank) for node in nodes})
        free = [node for node, _ in score.most_common() if node not in gone and node not in taken]
        taken += free[:1]
    assert len(taken) == size
    assert taken == sorted(taken)
