"""Annotations of a PodGroup: copied, kept in step, and the scheduler's own left alone."""

from lws_volcano.api import names
from tests.unit.mapping.builders import HASH, OPTED_IN, lws, pod, revision
from tests.unit.mapping.world import World

NAME = f"demo-0-{HASH}"


def world(annotations, *pods):
    """One group under an LWS with these annotations."""
    owner = lws(annotations={**OPTED_IN, **annotations})
    here = World(owner)
    here.put(revision(owner), *(pods or (pod(),)))
    return here


def found(here):
    """Annotations on the PodGroup."""
    return here.pod_groups[NAME]["metadata"].get("annotations", {})


def test_volcano_keys_are_copied_and_kept_in_step():
    """Changed with the LWS, and gone with it; the keys that become fields and keys of others are not copied."""
    here = world({"volcano.sh/sla-waiting-time": "1h", "volcano.sh/b": "2", "example.com/x": "y"})
    here.settle()
    copied = {key: value for key, value in found(here).items() if key.startswith("volcano.sh/")}
    assert copied == {"volcano.sh/sla-waiting-time": "1h", "volcano.sh/b": "2"}
    here.lws = lws(annotations={**OPTED_IN, "volcano.sh/b": "3"})
    here.settle()
    assert found(here) == {"volcano.sh/b": "3", names.COPIED_KEYS: "volcano.sh/b"}
    here.lws = lws()
    here.settle()
    assert found(here) == {}


def test_what_the_scheduler_writes_stays():
    """Also beside copied keys, and when those go."""
    here = world({"volcano.sh/b": "2"})
    here.settle()
    found(here)["volcano.sh/of-the-scheduler"] = "x"
    here.lws = lws()
    here.settle()
    assert found(here) == {"volcano.sh/of-the-scheduler": "x"}


def test_the_plan_of_the_leader_is_copied_and_survives_a_restart():
    """A new leader brings its own plan, or none."""
    here = world({}, pod(annotations={names.PLAN: "{}"}))
    here.settle()
    assert found(here) == {names.PLAN: "{}"}
    here.drop("demo-0")
    here.settle()
    assert found(here) == {names.PLAN: "{}"}
    here.put(pod(uid="new"))
    here.settle()
    assert found(here) == {}
