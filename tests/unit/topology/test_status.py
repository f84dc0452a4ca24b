"""Status of a ClusterTopology: counts, condition, and no change where nothing changed."""

from lws_volcano.topology.build import build
from lws_volcano.topology.findings import Finding, Severity
from lws_volcano.topology.model import Topology
from lws_volcano.topology.status import topology_status
from lws_volcano.topology.strangers import TWO_PARENTS
from tests.unit.topology.builders import document, domain, nodes

EARLY, LATE = "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"


def small() -> Topology:
    """Two nodes in a rack, one outside."""
    return build(document([domain("r", "rack", "n[1-2]")]), nodes("n1", "n2", "n3"))


def test_ready() -> None:
    """Counts for the printer columns; the same pass again gives the same status."""
    topology = small()
    status = topology_status(topology, topology.warnings, generation=3, now=EARLY)
    counts = {key: status[key] for key in ("nodes", "unplaced", "domains", "tiers", "observedGeneration")}
    assert counts == {"nodes": 2, "unplaced": 1, "domains": 1, "tiers": 1, "observedGeneration": 3}
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Ready", "True", "TopologyReady")
    assert topology_status(topology, topology.warnings, generation=3, now=LATE, before=status) == status


def test_a_hyper_node_with_two_parents_stops_every_group() -> None:
    """The counts stay, the condition turns, and names the HyperNode and the way out."""
    torn = Finding(
        severity=Severity.WARNING, what="has 2 parents, a, b", where="HyperNode x", mend="mend", about=TWO_PARENTS
    )
    status = topology_status(small(), [torn], generation=1, now=EARLY)
    (condition,) = status["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "HyperNodeTwoParents")
    assert "HyperNode x: has 2 parents, a, b; mend" in condition["message"]
    assert status["nodes"] == 2


def test_refused_and_empty() -> None:
    """The first error is the message; the time moves when the status does."""
    error = Finding(severity=Severity.ERROR, what="bad", where="spec.domains[0]", mend="mend it")
    topology = small()
    before = topology_status(topology, (), generation=1, now=EARLY)
    refused = topology_status(None, [error, error], generation=2, now=LATE, before=before)["conditions"][0]
    assert (refused["reason"], refused["message"]) == ("TopologyInvalid", "spec.domains[0]: bad; mend it (and 1 more)")
    assert refused["lastTransitionTime"] == LATE
    empty = topology_status(build(document([]), nodes("n1")), (), generation=1, now=LATE)["conditions"][0]
    assert (empty["status"], empty["reason"]) == ("False", "TopologyEmpty")
