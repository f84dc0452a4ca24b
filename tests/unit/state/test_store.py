"""A store fed by a watch and by our own writes, in any order.

Covers: lists, changes, bookmarks, what our own writes do, indexes. Leaves out: where events come from (tests/contract).
"""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from lws_volcano.state.store import Store


@dataclass(frozen=True)
class Item:
    """Something with a key, a UID and a colour."""

    key: str
    uid: str
    colour: str = ""


def store() -> Store[Item]:
    """Empty, with an index by colour."""
    return Store({"colour": lambda item: [item.colour]})


def test_a_list_tells_what_is_new_changed_and_gone() -> None:
    """Differences are old and new side by side; an object at the same version is no news."""
    known = store()
    known.replace([(Item("a", "1"), 1), (Item("b", "2"), 2)], 3)
    differences = known.replace([(Item("b", "2", "red"), 4), (Item("c", "3"), 5)], 6)
    found = {(d.old and d.old.key, d.new and d.new.key) for d in differences}
    assert found == {("b", "b"), (None, "c"), ("a", None)}
    assert known.replace([(Item("b", "2", "red"), 4), (Item("c", "3"), 5)], 7) == []


def test_our_own_write_is_seen_at_once_and_comes_back_as_no_news() -> None:
    """The watch brings the version that we wrote: nothing has changed."""
    known = store()
    known.replace([], 10)
    assert known.wrote(Item("a", "1", "red"), 12) is not None
    assert known.by("colour", "red")
    assert known.upsert(Item("a", "1", "red"), 12) is None


def test_an_older_event_does_not_undo_our_own_write() -> None:
    """The watch lags behind the answer to our write."""
    known = store()
    known.replace([(Item("a", "1", "old"), 10)], 10)
    known.wrote(Item("a", "1", "new"), 12)
    assert known.upsert(Item("a", "1", "old"), 11) is None
    assert known.get("a") == Item("a", "1", "new")
    assert known.upsert(Item("a", "1", "newer"), 13) is not None


def test_a_list_from_before_our_write_does_not_lose_it() -> None:
    """A list made at 11, taken after we wrote at 12."""
    known = store()
    known.replace([], 10)
    known.wrote(Item("a", "1"), 12)
    known.replace([], 11)
    assert known.get("a") is not None
    known.replace([], 13)
    assert known.get("a") is None


def test_a_late_answer_brings_nothing_back() -> None:
    """The watch has already told of the deletion that followed our write."""
    known = store()
    known.replace([], 10)
    known.upsert(Item("a", "1"), 12)
    known.remove("a", "1", 14)
    assert known.wrote(Item("a", "1"), 12) is None
    assert known.get("a") is None


def test_what_we_deleted_does_not_come_back_by_a_late_event() -> None:
    """Until the watch has told of the deletion, events about that UID are old; the next of its name is not."""
    known = store()
    known.replace([(Item("a", "1"), 10)], 10)
    assert known.deleted("a", "1") is not None
    assert known.upsert(Item("a", "1"), 11) is None
    assert known.replace([(Item("a", "1"), 11)], 11) == []
    assert known.upsert(Item("a", "2"), 13) is not None
    assert known.remove("a", "1", 12) is None
    assert known.get("a") == Item("a", "2")


def test_a_restored_server_may_count_from_lower_versions() -> None:
    """A list at a lower version than what was seen is the truth all the same."""
    known = store()
    known.replace([(Item("a", "1"), 900)], 1000)
    known.replace([(Item("b", "2"), 40)], 50)
    assert known.names() == ["b"]
    assert known.upsert(Item("c", "3"), 51) is not None


def test_versions_that_are_no_numbers_still_work() -> None:
    """They arrive as 0: order of arrival decides."""
    known = store()
    known.replace([(Item("a", "1"), 0)], 0)
    assert known.upsert(Item("a", "1", "red"), 0) is not None
    assert known.by("colour", "red")


def test_a_kind_that_cannot_be_read_any_more_is_empty_and_says_why() -> None:
    """And is whole again with the next list."""
    known = store()
    known.replace([(Item("a", "1"), 1)], 1)
    assert [d.new for d in known.clear("no permission")] == [None]
    assert (known.synced, known.missing) == (False, "no permission")
    known.replace([], 2)
    assert (known.synced, known.missing) == (True, "")


STEPS = st.lists(
    st.tuples(st.sampled_from(["upsert", "remove", "wrote", "deleted"]), st.sampled_from("abc"), st.sampled_from("xy")),
    max_size=40,
)


@given(STEPS)
def test_indexes_never_differ_from_the_items(steps: list[tuple[str, str, str]]) -> None:
    """Whatever happens, every item is under its values and nothing else is."""
    known = store()
    for version, (what, key, colour) in enumerate(steps, start=1):
        item = Item(key, f"{key}-{colour}", colour)
        if what in {"upsert", "wrote"}:
            getattr(known, what)(item, version)
        elif what == "remove":
            known.remove(key, item.uid, version)
        else:
            known.deleted(key, item.uid)
        for value in "xy":
            expected = {item.key for item in known if item.colour == value}
            assert {item.key for item in known.by("colour", value)} == expected


@given(st.permutations(range(6)), st.integers(0, 5))
def test_answers_and_events_in_any_order_end_in_the_newest(order: list[int], own: int) -> None:
    """Events come in their order; the answer to one write of ours comes at any moment between them."""
    known = store()
    known.replace([], 0)
    position = order.index(own)
    for index in range(6):
        if index == position:
            known.wrote(Item("a", "1", f"v{own + 1}"), own + 1)
        known.upsert(Item("a", "1", f"v{index + 1}"), index + 1)
    assert known.get("a") == Item("a", "1", "v6")
