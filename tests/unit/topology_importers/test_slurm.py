"""topology.conf and topology.yaml: syntax as people write it, trees, blocks, what is refused and with which words.

Leaves out host lists themselves (`tests/unit/topology`) and graphs that are no tree (`test_fabric`).
"""

import pytest

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.importers.registry import import_topology
from lws_volcano.topology.importers.source import decode
from tests.unit.topology_importers.builders import DATA, domains, from_file, imported, meeting_tier, sets, source

TREE = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=top Switches=a,b\n"


def refused(text: str, form: str = "slurm-conf") -> str:
    """The message of a refusal."""
    with pytest.raises(TopologyError) as caught:
        import_topology(form, source(text))
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        TREE,
        TREE.replace("\n", "\r\n"),
        TREE.replace("SwitchName", "SWITCHNAME").replace("Nodes", "nodes"),
        TREE.replace(" Nodes", " \\\n  Nodes"),
        "# site\n\n" + TREE.replace("\n", "   # remark = x\n"),
        TREE.replace("Nodes=", "LinkSpeed=400 Nodes = "),
        TREE.replace("n[1-2]", '"n[1-2]"'),
        TREE.rstrip("\n"),
    ],
    ids=["plain", "crlf", "case", "continued", "comments", "blanks", "quoted", "no-last-newline"],
)
def test_the_same_tree_however_it_is_written(text: str) -> None:
    """Line ends, case, comments, continuation and blanks don't matter."""
    topology, said = imported("slurm-conf", text)
    assert domains(topology) == {1: sets("n1 n2", "n3 n4"), 2: sets("n1 n2 n3 n4")}
    assert said == []


@pytest.mark.parametrize(
    ("leaf", "top", "written"),
    [
        ("400Gb/s", "200Gbps", ["50GB/s", "25GB/s"]),
        ("400Gb/s", "1.6Tb/s", ["50GB/s", "50GB/s"]),
        ("50GB/s", "100", ["50GB/s", ""]),
        ("400", "200Gb/s", ["", ""]),
        ("fast", "200G", ["", ""]),
        ("0Gb/s", "0", ["", ""]),
    ],
)
def test_link_speeds_with_a_unit_are_bandwidths(leaf: str, top: str, written: list[str]) -> None:
    """A bare number is of arbitrary units in Slurm, and of none here; bandwidth never rises with distance."""
    text = TREE.replace("Nodes=", f"LinkSpeed={leaf} Nodes=").replace("Switches=", f"LinkSpeed={top} Switches=")
    tiers = import_topology("slurm-conf", source(text)).document.spec.tiers
    assert [str(tier.bandwidth or "") for tier in tiers] == written
    imported("slurm-conf", text)


def test_one_leaf_without_a_link_speed_leaves_its_tier_without() -> None:
    """Nothing is guessed."""
    text = TREE.replace("Nodes=n[1-2]", "Nodes=n[1-2] LinkSpeed=400Gb/s")
    assert not any(tier.bandwidth for tier in import_topology("slurm-conf", source(text)).document.spec.tiers)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_no_part_of_the_text(encoding: str) -> None:
    """A file saved by an editor of another system."""
    topology, _ = imported("slurm-conf", decode(TREE.encode(encoding), "input"))
    assert len(topology.nodes) == 4


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SwitchName=c Node=n9", "did you mean Nodes="),
        ("SwitchNam=c Nodes=n9", "did you mean SwitchName="),
        ("SwitchName=c Nodes=n8, n9", "'n9' is no Key=Value"),
        ("SwitchName=c Nodes=n8 Nodes=n9", "Nodes is given twice"),
        ("SwitchName=c BlockName=c", "more than one of"),
        ("SwitchName=c[1-2] Nodes=n9", "no ranges"),
        ("SwitchName=c Switches=gone", "not defined: gone"),
        ("SwitchName=c Nodes=n[1-", "unbalanced"),
        ("BlockSizes=4,x", "no numbers above 0"),
        ("apiVersion: v1", "is no Key=Value"),
        ("SwitchName=", "can't be a name"),
    ],
)
def test_mistakes_are_named_with_their_line(line: str, words: str) -> None:
    """What is wrong, where, and how to mend it."""
    message = refused(TREE + line + "\n")
    assert message.startswith("input:4: ")
    assert words in message


def test_a_node_in_two_unlike_switches_is_refused_with_both_lines() -> None:
    """A slip of copying is no rail; on request the node is left out of both."""
    text = TREE.replace("n[3-4]", "n[2-3]")
    assert "n2 is in a (line 1) and in b (line 2)" in refused(text)
    topology, _ = imported("slurm-conf", text, keep_going=True)
    assert "n2" not in topology.place_of


def test_two_roots_over_the_same_switches_are_one() -> None:
    """A fat tree written as it is: the roots have the same members."""
    topology, said = imported("slurm-conf", TREE + "SwitchName=top2 Switches=a,b\n")
    assert domains(topology) == {1: sets("n1 n2", "n3 n4"), 2: sets("n1 n2 n3 n4")}
    assert "a (below top, top2)" in said[0]
    assert "one domain, top: top, top2" in said[1]


def test_rails_in_a_topology_conf_are_one_domain() -> None:
    """Switches with mostly the same nodes, as tools write them for several rails."""
    topology, said = imported("slurm-conf", TREE + "SwitchName=a2 Nodes=n[1-2]\nSwitchName=b2 Nodes=n[3-4]\n")
    assert domains(topology)[1] == sets("n1 n2", "n3 n4")
    assert any("a, a2" in finding for finding in said)


def test_ignored_switches_leave_their_content_without_them() -> None:
    """A switch above is cut off; names that are not there are said."""
    topology, said = imported("slurm-conf", TREE, ignore=frozenset({"top", "gone"}))
    assert domains(topology) == {1: sets("n1 n2", "n3 n4")}
    assert any("gone" in finding for finding in said)


def test_uneven_depth_is_kept() -> None:
    """A node straight on the upper switch meets the others there."""
    topology, _ = imported("slurm-conf", TREE.replace("Switches=a,b", "Switches=a,b Nodes=login"))
    assert meeting_tier(topology, "login", "n1") == 2


def test_blocks_and_their_aggregates() -> None:
    """Sizes 4, 8, 16: neighbours in the order of the file."""
    topology, said = built_file("slurm-conf", "block.conf")
    assert sorted(map(len, domains(topology)[2])) == [8, 8]
    assert meeting_tier(topology, "trn4", "trn5") == 2
    assert meeting_tier(topology, "trn8", "trn9") == 3
    assert said == []


def built_file(form: str, name: str, **options: object) -> tuple[object, list[str]]:
    """Import of a file of `data`."""
    path = from_file(DATA / name, **options)
    return imported(form, path.text, topology_name=path.topology_name)


def test_blocks_inside_leaf_switches() -> None:
    """Both in one file, as some generators write it: blocks become the lowest tier."""
    text = "SwitchName=leaf Nodes=n[1-4]\nBlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2\n"
    topology, _ = imported("slurm-conf", text)
    assert domains(topology) == {1: sets("n1 n2", "n3 n4"), 2: sets("n1 n2 n3 n4")}


def test_block_sizes_that_do_not_divide_are_refused() -> None:
    """30 and 100: no whole blocks."""
    assert "block size 100" in refused("BlockName=b Nodes=n[1-30]\nBlockName=c Nodes=n[31-60]\nBlockSizes=30,100\n")


def test_one_of_several_topologies() -> None:
    """The cluster default, or the one that was asked for."""
    tree, said = built_file("slurm-yaml", "topologies.yaml")
    assert domains(tree)[1] == sets("gpu1 gpu2", "gpu3 gpu4")
    assert "tree, nvl, plain" in said[0]
    blocks, _ = built_file("slurm-yaml", "topologies.yaml", topology_name="nvl")
    assert [tier.name for tier in blocks.tiers] == ["block", "aggregate-4"]


def test_a_flat_topology_is_empty() -> None:
    """It says nothing about distances."""
    topology, said = built_file("slurm-yaml", "topologies.yaml", topology_name="plain")
    assert topology.nodes == ()
    assert "flat" in said[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- topology: a\n  tree: {switches: []}\n- topology: b\n  flat: true\n", "none is cluster_default"),
        ("- topology: a\n  tree: {switches: []}\n  flat: true\n", "tree and flat at once"),
        ("- topology: a\n", "none of tree, block, flat"),
        ("- tree: {switches: []}\n", "no `topology`"),
        ("- topology: a\n  tree: {switches: [{name: x}]}\n", "unknown field name"),
        ("- topology: a\n  tree:\n    switches:\n    - switch: x\n      nodes: a\n      nodes: b\n", "stands twice"),
        ("topology: a\n", "expected a list"),
        ("- topology: a\n  torus3d: {}\n", "no tiers"),
        ("- [\n", "not YAML"),
    ],
)
def test_mistakes_in_a_topology_yaml(text: str, words: str) -> None:
    """What is wrong, in words."""
    assert words.casefold().replace("not yaml", "yaml") in refused(text, "slurm-yaml").casefold()
