"""The teaching inputs of ../shared/cases/topologies give their written answers or refusals.

Skipped where that folder is absent. Leaves out what is about the controller (keeping the last good topology).
"""

import pytest

from lws_volcano.topology.findings import InvalidTopologyError
from lws_volcano.topology.hostlist import expand
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.registry import import_topology
from tests.unit.topology_importers.builders import CASES, built, domains, from_file, meeting_tier, nodes, sets

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the teaching inputs (../shared/cases) are not here")


def case(form: str, name: str, **options: object) -> Imported:
    """The import of one input."""
    return import_topology(form, from_file(CASES / name, **options))


def refusal(form: str, name: str) -> list[str]:
    """What is said when an input is refused."""
    with pytest.raises(InvalidTopologyError) as caught:
        case(form, name)
    return [str(finding) for finding in caught.value.findings]


def test_b01_a_switch_defined_twice() -> None:
    """Both lines are named and nothing of the file is used."""
    assert refusal("slurm-conf", "b01-duplicate-switch.conf") == [
        "b01-duplicate-switch.conf:3: leaf1 is defined on line 1 and line 3; keep one of them"
    ]


def test_b03_cycles_are_printed() -> None:
    """The cycle and the self reference; the sound leaf is offered on request only."""
    said = " ".join(refusal("slurm-conf", "b03-cycle.conf"))
    assert "a -> b -> c -> a" in said
    assert "selfie -> selfie" in said
    topology, _ = built(case("slurm-conf", "b03-cycle.conf", keep_going=True))
    assert domains(topology) == {1: sets("n1 n2")}


def test_b06_host_ranges() -> None:
    """Each bad line is an error of its own; without them 42 nodes in 5 leaves."""
    said = refusal("slurm-conf", "b06-host-ranges.conf")
    lines = [finding.partition(": ")[0].rpartition(":")[2] for finding in said]
    assert lines == ["5", "6", "8", "9"]
    topology, _ = built(case("slurm-conf", "b06-host-ranges.conf", keep_going=True))
    leaves = domains(topology)[1]
    assert len(topology.nodes) == 42
    assert leaves == {
        frozenset(expand(hosts))
        for hosts in (
            "n[001-016,020]",
            "n[1-2]-ib[0-3]",
            "rack[1-2]node[01-02],login1",
            "n[8-11],n[098-101]",
            "n017x,n018x,n019x,y1",
        )
    }


def test_b11_nothing_in_it() -> None:
    """An empty topology, said so, and no crash."""
    topology, said = built(case("slurm-conf", "b11-nearly-empty.conf"))
    assert topology.nodes == ()
    assert any("topology is empty" in finding for finding in said)


def test_b12_names_that_the_cluster_does_not_know() -> None:
    """Long names match without their domain, other case does not; counts instead of a line for each node."""
    cluster = nodes("node-1", "node-2", "node-3", "NODE-4", "node-5", "node-6", "node-9")
    topology, said = built(case("slurm-conf", "b12-unknown-and-missing-nodes.conf", nodes=cluster))
    assert domains(topology)[1] == sets("node-1 node-2 node-3", "node-5 node-6")
    text = "\n".join(said)
    assert "3 of 8 nodes" in text
    assert "node-4 differs from the node NODE-4 only in case" in text
    assert "NODE-4, node-9" in text
    assert len(said) == 3


def test_g01_a_slurm_tree() -> None:
    """Three tiers of eight nodes, no remarks."""
    topology, said = built(case("slurm-conf", "g01-slurm-tree-three-tiers.conf"))
    assert domains(topology)[1] == sets("tux0 tux1", "tux2 tux3", "tux4 tux5", "tux6 tux7")
    assert domains(topology)[2] == sets("tux0 tux1 tux2 tux3", "tux4 tux5 tux6 tux7")
    assert meeting_tier(topology, "tux1", "tux2") == 2
    assert meeting_tier(topology, "tux3", "tux4") == 3
    assert said == []


def test_g04_slurm_blocks() -> None:
    """Four blocks of 32 nodes in one aggregate; spare nodes are not dropped."""
    topology, said = built(case("slurm-conf", "g04-slurm-block.conf"))
    assert len(topology.nodes) == 128
    assert sorted(len(block) for block in domains(topology)[1]) == [32] * 4
    assert meeting_tier(topology, "node32", "node33") == 2
    assert said == []


def test_g06_a_topograph_model() -> None:
    """NVLink domains with the members of their leaf are no tier of their own."""
    topology, said = built(case("topograph-model", "g06-topograph-model-nvl72.yaml"))
    assert len(topology.nodes) == 72
    assert {tier: sorted(map(len, groups)) for tier, groups in domains(topology).items()} == {
        1: [18] * 4,
        2: [36] * 2,
        3: [72],
    }
    assert meeting_tier(topology, "n1118", "n1201") == 2
    assert meeting_tier(topology, "n1218", "n2101") == 3
    assert said == []


def test_g10_aws_layers() -> None:
    """Layers run from the outside in, and the deepest layer of a node is its tier 1."""
    topology, said = built(case("node-labels", "g10-aws-nodes.yaml"))
    found = {
        tier: {frozenset(n.removeprefix("ip-10-0-") for n in group) for group in s}
        for tier, s in domains(topology).items()
    }
    assert found[4] == sets("0-1 0-2 0-3 0-4 1-1 1-2 1-3")
    assert found[3] == sets("0-1 0-2 0-3", "0-4", "1-1 1-2 1-3")
    assert found[2] == sets("0-1 0-2", "0-3", "0-4", "1-1 1-2 1-3")
    assert found[1] == sets("0-1 0-2", "0-3", "0-4", "1-1 1-2", "1-3")
    assert any("ip-10-0-2-1" in finding for finding in said)


def test_g15_hypernodes() -> None:
    """Exact, regular expression, label; a gap in the tiers stays."""
    topology, said = built(case("hypernodes", "g15-hypernodes.yaml"))
    assert domains(topology) == {
        1: sets("w0-1 w0-2", "w1-1 w1-2 spare-1", "w2-1"),
        2: sets("w0-1 w0-2 w1-1 w1-2 spare-1"),
        4: sets("w0-1 w0-2 w1-1 w1-2 spare-1 w2-1"),
    }
    assert meeting_tier(topology, "w0-1", "w2-1") == 4
    assert any("w1-x" in finding for finding in said)


def test_g16_kueue_levels() -> None:
    """Equal rack names under two blocks stay two racks; a node may be called like a block."""
    topology, said = built(case("kueue", "g16-kueue-topology-nodes.yaml"))
    assert domains(topology) == {1: sets("n1 n2", "n3", "n4 b2"), 2: sets("n1 n2 n3", "n4 b2 n6")}
    assert any("n6" in finding for finding in said)
