"""What an import prints can be read again as what it was: the same tree, the same document, the same HyperNodes.

Covers every format by its example file, and that content decides, not the order of it.
"""

import json
import random

import pytest
import yaml

from lws_volcano.topology.build import build
from lws_volcano.topology.document import describe, to_document
from lws_volcano.topology.file import parse_topologies
from lws_volcano.topology.hypernodes import desired_hypernodes
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.registry import FORMATS, import_topology
from tests.unit.topology_importers.builders import DATA, EXAMPLES, built, domains, from_file, source


def test_every_format_has_an_example() -> None:
    """So that nothing below passes it over."""
    assert {form for form, _ in EXAMPLES} == set(FORMATS)


def example(form: str, name: str) -> Imported:
    """The import of an example file."""
    return import_topology(form, from_file(DATA / name))


@pytest.mark.parametrize(("form", "name"), EXAMPLES)
def test_what_is_printed_is_read_back_the_same(form: str, name: str) -> None:
    """As YAML and as JSON, with the same picture."""
    document = example(form, name).document
    for text in (yaml.safe_dump(document.manifest()), json.dumps(document.manifest())):
        (read,) = parse_topologies(text.encode(), "out.yaml")
        assert read.document == document
        assert describe(build(read.document)) == describe(build(document))


@pytest.mark.parametrize(("form", "name"), EXAMPLES)
def test_the_tree_written_out_is_the_same_tree(form: str, name: str) -> None:
    """Document, tree, document, tree."""
    topology, _ = built(example(form, name))
    again = build(to_document(topology))
    assert again.nodes == topology.nodes
    assert again.domains == topology.domains


UNEVEN = {"fabric.ibnet", "model.yaml"}


@pytest.mark.parametrize(("form", "name"), [example for example in EXAMPLES if example[1] not in UNEVEN])
def test_its_hypernodes_are_imported_as_the_same_domains(form: str, name: str) -> None:
    """Written as HyperNodes and read from those; where the depth is uneven the padding would show."""
    topology, _ = built(example(form, name))
    listed = {"kind": "List", "items": [hypernode.manifest() for hypernode in desired_hypernodes(topology)]}
    again, _ = built(import_topology("hypernodes", source(json.dumps(listed))))
    assert domains(again) == domains(topology)


def test_the_order_of_lines_does_not_matter() -> None:
    """Switches and nodes in any order."""
    path = DATA / "tree.conf"
    lines = path.read_text().replace(",\\\n", ",").splitlines()
    random.Random(7).shuffle(lines)
    shuffled = import_topology("slurm-conf", source("\n".join(lines)))
    assert shuffled.document == example("slurm-conf", "tree.conf").document


def test_a_site_file_next_to_a_part_of_the_site() -> None:
    """One summary for the unknown nodes, one for those that are nowhere (reports, R11)."""
    cluster = {f"n{at:04}": {} for at in range(1, 18)}
    racks = "\n".join(f"SwitchName=r{at} Nodes=n[{at * 20 + 1:04}-{at * 20 + 20:04}]" for at in range(50))
    part = racks.replace("n[0001-0020]", "n[0001-0016],n[0018-0020],n9999")
    found = import_topology("slurm-conf", source(part, nodes=cluster))
    topology, said = built(found)
    assert len(topology.nodes) == 16
    assert any("984 of 1000" in finding for finding in said)
    assert any("n0017" in finding for finding in said)
    assert len(said) <= 3
