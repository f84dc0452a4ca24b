"""From a graph to the tree of locality units: fat trees, rails, storage switches, wrong cables, any graph at all.

Leaves out the formats that graphs come from.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.topology.build import build
from lws_volcano.topology.importers.document import topology_document
from lws_volcano.topology.importers.fabric import Fabric, locality_tree
from lws_volcano.topology.importers.notes import Notes
from lws_volcano.topology.model import Topology
from tests.unit.topology_importers.builders import domains, meeting_tier, sets

Cables = dict[str, list[str]]


def tree(cables: Cables, links: list[tuple[str, str]] = []) -> tuple[Topology, str]:  # noqa: B006 - never changed
    """The topology of nodes with their switches, and all that was said."""
    fabric = Fabric()
    for node, switches in cables.items():
        for switch in switches:
            fabric.attach(node, switch)
    for one, other in links:
        fabric.link(one, other)
    notes = Notes()
    document = topology_document("fabric", locality_tree(fabric, notes), notes)
    return build(document), "\n".join(map(str, notes.findings))


def units(*, rails: int = 1, count: int = 2, size: int = 4, extra: tuple[str, ...] = ()) -> Cables:
    """Nodes `n<unit><position>` on the rails of their unit."""
    return {
        f"n{unit}{at}": [*(f"leaf{unit}r{rail}" for rail in range(rails)), *extra]
        for unit in range(count)
        for at in range(size)
    }


def spines(cables: Cables, count: int = 2) -> list[tuple[str, str]]:
    """Every leaf linked to every spine."""
    leaves = {switch for switches in cables.values() for switch in switches if switch.startswith("leaf")}
    return [(leaf, f"spine{at}") for leaf in sorted(leaves) for at in range(count)]


UNITS = sets("n00 n01 n02 n03", "n10 n11 n12 n13")


def test_rails_of_a_unit_are_one_domain() -> None:
    """Eight rails, two spines, two tiers."""
    cables = units(rails=8)
    topology, said = tree(cables, spines(cables))
    assert domains(topology)[1] == UNITS
    assert [len(tier) for tier in domains(topology).values()] == [1, 2]
    assert "leaf0r0, leaf0r1" in said


def test_missing_cables_make_no_tier() -> None:
    """Two nodes lost a rail, a rail lost three of its nodes."""
    cables = units(rails=4)
    for node, switch in (
        ("n00", "leaf0r1"),
        ("n12", "leaf1r3"),
        ("n10", "leaf1r2"),
        ("n11", "leaf1r2"),
        ("n13", "leaf1r2"),
    ):
        cables[node].remove(switch)
    topology, _ = tree(cables, spines(cables))
    assert domains(topology)[1] == UNITS
    assert len(topology.tiers) == 2


def test_a_wrong_cable_is_told_and_does_not_count() -> None:
    """A node with one rail in the other unit stays where most of its rails are."""
    cables = units(rails=4)
    cables["n00"][0] = "leaf1r0"
    topology, said = tree(cables, spines(cables))
    assert domains(topology)[1] == UNITS
    assert "n00 hangs on switches of several domains" in said


def test_a_storage_switch_that_joins_all_is_no_unit() -> None:
    """Nor are two of them and a management switch."""
    for extra in (("stor",), ("stor0", "stor1", "mgmt")):
        topology, said = tree(units(count=3, extra=extra))
        assert domains(topology)[1] == UNITS | sets("n20 n21 n22 n23")
        assert len(topology.tiers) == 2
        assert "--ignore" in said


def test_a_fat_tree_becomes_its_pods() -> None:
    """Leaf, pod, core, although each leaf has two spines and each spine two cores."""
    cables = units(count=4)
    links = [(f"leaf{unit}r0", f"spine{unit // 2}{at}") for unit in range(4) for at in range(2)]
    links += [(f"spine{pod}{at}", f"core{at}{way}") for pod in range(2) for at in range(2) for way in range(2)]
    topology, _ = tree(cables, links)
    assert [len(domains(topology)[tier]) for tier in (1, 2, 3)] == [4, 2, 1]
    assert meeting_tier(topology, "n00", "n10") == 2
    assert meeting_tier(topology, "n00", "n20") == 3


def test_nodes_on_a_spine_meet_the_others_there() -> None:
    """A fabric manager with a port on a spine is no leaf of its own."""
    cables = units()
    links = spines(cables)
    cables["ufm"] = ["spine0"]
    topology, _ = tree(cables, links)
    assert domains(topology)[1] == UNITS
    assert meeting_tier(topology, "ufm", "n00") == 2


def test_leaves_linked_straight_make_a_tier() -> None:
    """Without a spine, over a cable between them."""
    topology, _ = tree(units(), [("leaf0r0", "leaf1r0")])
    assert domains(topology)[1] == UNITS
    assert meeting_tier(topology, "n00", "n10") == 2


def test_fabrics_that_are_not_linked_are_several_trees() -> None:
    """No tier joins them."""
    topology, _ = tree(units())
    assert len(topology.roots) == 2
    assert meeting_tier(topology, "n00", "n10") is None


NAMES = st.sampled_from([f"s{at}" for at in range(8)])


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from([f"n{at}" for at in range(12)]), st.lists(NAMES, min_size=1, max_size=4)),
    st.lists(st.tuples(NAMES, NAMES), max_size=16),
)
def test_any_graph_is_a_strict_tree_of_all_its_nodes(cables: Cables, links: list[tuple[str, str]]) -> None:
    """Whatever is linked to what: every node in one place, nothing lost, and the same again."""
    topology, said = tree(cables, links)
    assert set(topology.nodes) == set(cables)
    again, said_again = tree(dict(reversed(cables.items())), [(other, one) for one, other in reversed(links)])
    assert domains(again) == domains(topology)
    assert said_again == said


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([f"n{at}" for at in range(8)]), st.lists(NAMES, min_size=1, max_size=3), min_size=2
    ),
    st.lists(st.tuples(NAMES, NAMES), max_size=12),
)
def test_nodes_on_the_same_switches_are_as_close_as_can_be(cables: Cables, links: list[tuple[str, str]]) -> None:
    """Two nodes with equal cables are never in different domains."""
    topology, _ = tree(cables, links)
    homes: dict[frozenset[str], set[int]] = {}
    for node, switches in cables.items():
        homes.setdefault(frozenset(switches), set()).add(topology.domain_of[topology.place_of[node]])
    assert all(len(found) == 1 for found in homes.values())
