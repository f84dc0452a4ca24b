"""Which Events are written: counting, aggregation, spam.

Covers: the constants of client-go's correlator. Leaves out: the requests (test_events).
"""

from lws_volcano.controller.correlator import BURST, REFILL, SIMILAR, Correlator, Remark


def remark(message: str = "m", *, uid: str = "u", reason: str = "r") -> Remark:
    """Something to say about one object."""
    return Remark(
        api_version="v1", kind="Pod", namespace="ns", name="p", uid=uid, reason=reason, message=message, warning=True
    )


def test_the_same_again_is_counted() -> None:
    """One Event, whatever is said between."""
    correlator = Correlator()
    first = correlator.say(remark("a"), 0)
    correlator.say(remark("b"), 1)
    second = correlator.say(remark("a"), 2)
    assert first is second
    assert second is not None
    assert second.count == 2


def test_more_than_ten_similar_become_one() -> None:
    """From the eleventh message on they share one Event, whose text is the newest."""
    correlator = Correlator()
    for number in range(SIMILAR):
        said = correlator.say(remark(f"m{number}"), number)
        assert said is not None
        assert said.count == 1
    eleventh = correlator.say(remark("m10"), 11)
    twelfth = correlator.say(remark("m11"), 12)
    assert eleventh is twelfth
    assert twelfth is not None
    assert twelfth.remark.message == "(combined from similar events): m11"


def test_similar_ones_far_apart_are_not_combined() -> None:
    """Ten minutes without one, and the messages are told one by one again."""
    correlator = Correlator()
    for number in range(SIMILAR + 1):
        correlator.say(remark(f"m{number}"), number)
    said = correlator.say(remark("later"), 2000)
    assert said is not None
    assert said.remark.message == "later"


def test_one_object_cannot_flood() -> None:
    """25 at once, then one in five minutes; another object is not held back."""
    correlator = Correlator()
    said = [correlator.say(remark(reason=f"r{number}"), 0) for number in range(BURST + 5)]
    assert sum(saying is not None for saying in said) == BURST
    assert correlator.say(remark(reason="x"), REFILL * 0.9) is None
    assert correlator.say(remark(reason="y"), REFILL * 1.1) is not None
    assert correlator.say(remark(uid="other"), 0) is not None


def test_what_could_not_be_written_is_new_the_next_time() -> None:
    """A lost Event is not counted up."""
    correlator = Correlator()
    saying = correlator.say(remark(), 0)
    assert saying is not None
    correlator.lost(saying)
    again = correlator.say(remark(), 1)
    assert again is not None
    assert again.count == 1
