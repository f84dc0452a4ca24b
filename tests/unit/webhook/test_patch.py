"""The JSON Patch: applied to real pods of many forms, what was there stays, what is ours is there.

Left out: which annotations, gates and terms (test_decide).
"""

import copy

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lws_volcano.placement.hints import PodHints
from lws_volcano.webhook.patch import add_affinity, add_annotations, add_gate, escape

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = {"weight": 7, "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}}
REQUIREMENT = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1", "n2"]}


def patched(pod, operations):
    """The pod after the patch, the original untouched."""
    return jsonpatch.apply_patch(copy.deepcopy(pod), operations)


@given(
    st.none() | st.dictionaries(st.text("abc/~.", min_size=1, max_size=6), st.text(max_size=3), max_size=4),
    st.dictionaries(st.text("abc/~.", min_size=1, max_size=6), st.text(max_size=3), max_size=4),
)
def test_annotations_are_merged(present, wanted):
    """Whatever is there and whatever the keys: all wanted are set, all others stay; a second time gives nothing."""
    pod = {"metadata": {"name": "p"} if present is None else {"name": "p", "annotations": present}}
    after = patched(pod, add_annotations(pod, wanted))
    assert (after["metadata"].get("annotations") or {}) == {**(present or {}), **wanted}
    assert add_annotations(after, wanted) == []


@pytest.mark.parametrize("gates", [None, [], [{"name": "other"}]])
def test_gate_joins_the_others(gates):
    """A gate of somebody else stays in front; a second time gives no operation."""
    pod = {"spec": {} if gates is None else {"schedulingGates": gates}}
    after = patched(pod, add_gate(pod, "ours"))
    assert after["spec"]["schedulingGates"] == [*(gates or []), {"name": "ours"}]
    assert add_gate(after, "ours") == []


@pytest.mark.parametrize("affinity", [None, {}, {"podAffinity": {"x": 1}}, {"nodeAffinity": {}}])
def test_terms_come_where_there_were_none(affinity):
    """Without node affinity of the user's own; his pod affinity stays."""
    pod = {"spec": {} if affinity is None else {"affinity": affinity}}
    after = patched(pod, add_affinity(pod, PodHints(preferred=(TERM,), required=(REQUIREMENT,))))
    assert after["spec"]["affinity"] == {
        **(affinity or {}),
        "nodeAffinity": {
            PREFERRED: [TERM],
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [REQUIREMENT]}]},
        },
    }


def test_preferred_terms_follow_the_users():
    """The user's own preferred terms come first and his required ones are not touched."""
    own = {"weight": 1, "preference": {}}
    required = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name"}]}]}
    pod = {"spec": {"affinity": {"nodeAffinity": {PREFERRED: [own], REQUIRED: required}}}}
    node = patched(pod, add_affinity(pod, PodHints(preferred=(TERM,))))["spec"]["affinity"]["nodeAffinity"]
    assert node == {PREFERRED: [own, TERM], REQUIRED: required}


def test_required_narrows_every_alternative():
    """The user's terms are alternatives: ours goes into each of them, else one would be a way around it."""
    terms = [{"matchExpressions": [{"key": "zone"}]}, {"matchFields": [{"key": "metadata.name"}]}]
    pod = {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}}
    node = patched(pod, add_affinity(pod, PodHints(required=(REQUIREMENT,))))["spec"]["affinity"]["nodeAffinity"]
    assert node[REQUIRED]["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "zone"}, REQUIREMENT]},
        {"matchFields": [{"key": "metadata.name"}], "matchExpressions": [REQUIREMENT]},
    ]


def test_no_terms_no_operation():
    """Without hints the affinity is not touched at all."""
    assert add_affinity({"spec": {"affinity": {"nodeAffinity": {}}}}, PodHints()) == []


def test_pointer_escapes():
    """RFC 6901: the tilde first."""
    assert escape("a/b~c") == "a~1b~0c"
