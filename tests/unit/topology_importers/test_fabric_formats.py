"""ibnetdiscover dumps and gathered lldpctl output: syntax, names, what is cut off, what does not count.

Leaves out how a fabric becomes a tree (`test_fabric`).
"""

import json
from typing import Any

import pytest

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.importers.registry import import_topology
from tests.unit.topology_importers.builders import DATA, domains, imported, meeting_tier, nodes, sets, source

DUMP = (DATA / "fabric.ibnet").read_text()
UNITS = sets("gpu-00 gpu-01 gpu-02 gpu-03", "gpu-10 gpu-11 gpu-12 gpu-13")


def test_rails_of_a_dump_come_together() -> None:
    """Adapters of one node on different rails; the fabric manager hangs on a spine."""
    topology, _ = imported("ibnetdiscover", DUMP)
    assert domains(topology)[1] == UNITS
    assert meeting_tier(topology, "gpu-00", "gpu-10") == 2
    assert "ufm-1" in topology.place_of
    assert {domain.name for domain in topology.domains} == {"leaf-u0-r0", "leaf-u1-r0", "spine-0"}


def bandwidths(text: str, form: str = "ibnetdiscover", **options: Any) -> dict[str, str]:
    """What is written about the tiers, by name; empty where nothing is."""
    document = import_topology(form, source(text, **options)).document
    return {tier.name: str(tier.bandwidth or "") for tier in document.spec.tiers}


def test_rates_of_links_become_bandwidths() -> None:
    """Two rails of 50 GB/s into a unit; out of it four links of 50 for four nodes."""
    assert bandwidths(DUMP) == {"leaf": "100GB/s", "spine": "50GB/s"}


@pytest.mark.parametrize(
    ("rate", "leaf", "spine"),
    [
        ("4xHDR", "50GB/s", "25GB/s"),
        ("2xHDR", "25GB/s", "12.5GB/s"),
        ("4xEDR", "25GB/s", "12.5GB/s"),
        ("4xFDR10", "10GB/s", "5GB/s"),
        ("4xQDR", "8GB/s", "4GB/s"),
        ("4xXDR", "200GB/s", "100GB/s"),
    ],
)
def test_widths_and_speeds(rate: str, leaf: str, spine: str) -> None:
    """As ibnetdiscover prints them."""
    assert bandwidths(DUMP.replace("4xNDR", rate)) == {"leaf": leaf, "spine": spine}


def test_one_cable_that_trained_down_is_no_property_of_the_network() -> None:
    """The middle of a tier counts."""
    assert bandwidths(DUMP.replace('"gpu-02 mlx5_1" lid 3 4xNDR', '"gpu-02 mlx5_1" lid 3 1xSDR')) == {
        "leaf": "100GB/s",
        "spine": "50GB/s",
    }


def test_a_tier_all_of_whose_links_say_nothing_has_no_bandwidth() -> None:
    """Nor have those above it: what is left out is half of the tier below, and could come to rise."""
    assert bandwidths(DUMP.replace(" 4xNDR", "")) == {"leaf": "", "spine": ""}
    no_trunks = "\n".join(line.removesuffix(" 4xNDR") if '\t"S-' in line else line for line in DUMP.split("\n"))
    assert bandwidths(no_trunks) == {"leaf": "100GB/s", "spine": ""}
    one_end = "\n".join(line.removesuffix(" 4xNDR") if '"MF0;spine' in line else line for line in DUMP.split("\n"))
    assert bandwidths(one_end) == {"leaf": "100GB/s", "spine": "50GB/s"}
    strange = DUMP.replace("4xNDR", "4xABC")
    assert bandwidths(strange) == {"leaf": "", "spine": ""}


def test_bandwidths_of_the_nodes_and_switches_that_count() -> None:
    """Half of the nodes share the same links; with one spine ignored they share half of them."""
    half = nodes(*(f"gpu-{unit}{at}" for unit in range(2) for at in range(2)))
    assert bandwidths(DUMP, nodes=half) == {"leaf": "100GB/s", "spine": "100GB/s"}
    assert bandwidths(DUMP, ignore=frozenset({"spine-1"})) == {"leaf": "100GB/s", "spine": "25GB/s"}


def test_hosts_outside_the_cluster_do_not_count() -> None:
    """With the nodes given; one that is on no switch is told."""
    cluster = nodes(*(f"gpu-{unit}{at}" for unit in range(2) for at in range(4)), "gpu-99")
    topology, said = imported("ibnetdiscover", DUMP, nodes=cluster)
    assert "ufm-1" not in topology.place_of
    assert any("ufm-1" in finding for finding in said)
    assert any("gpu-99" in finding for finding in said)


def test_adapters_without_a_host_name_are_told() -> None:
    """The maker's description says nothing, and many hosts call themselves localhost."""
    text = DUMP.replace("gpu-00 mlx5_0", "MT4129 ConnectX7   Mellanox Technologies").replace(
        "gpu-01 mlx5_0", "localhost HCA-1"
    )
    topology, said = imported("ibnetdiscover", text)
    assert domains(topology)[1] == UNITS
    assert any("MT4129" in finding and "localhost" in finding for finding in said)


def test_switches_of_one_name_are_told_apart() -> None:
    """By their identity."""
    topology, _ = imported("ibnetdiscover", DUMP.replace("leaf-u0-r0", "switch").replace("leaf-u1-r0", "switch"))
    assert domains(topology)[1] == UNITS


@pytest.mark.parametrize("keep", [0.2, 0.4])
def test_a_dump_that_is_cut_off_is_refused(keep: float) -> None:
    """Even where the cut is between two lines: switches are linked that are not described."""
    cut = DUMP[: DUMP.index("\n", int(len(DUMP) * keep))]
    with pytest.raises(TopologyError, match="cut off"):
        import_topology("ibnetdiscover", source(cut))


def test_a_line_that_is_none_of_a_dump_is_named() -> None:
    """With its number."""
    with pytest.raises(TopologyError, match="input:1: not a line of ibnetdiscover"):
        import_topology("ibnetdiscover", source("SwitchName=a Nodes=b\n" + DUMP))


def test_ignored_switches_and_their_nodes() -> None:
    """Without both spines there are two trees."""
    topology, _ = imported("ibnetdiscover", DUMP, ignore=frozenset({"spine-0", "spine-1"}))
    assert len(topology.roots) == 2


def seen(switch: str, port: str = "eth0", abilities: tuple[str, ...] = ("Bridge", "Router")) -> dict[str, Any]:
    """One neighbour as `-f json` writes it."""
    capability = [{"type": ability, "enabled": True} for ability in abilities]
    return {
        port: {"via": "LLDP", "chassis": {switch: {"id": {"type": "mac", "value": "00:11"}, "capability": capability}}}
    }


def seen0(switch: str) -> dict[str, Any]:
    """One neighbour as `-f json0` writes it."""
    capability = [{"type": "Bridge", "enabled": True}]
    return {"name": "eth0", "chassis": [{"name": [{"value": switch}], "capability": capability}]}


RACKS = {f"n{at}": f"tor{at // 2}" for at in range(4)}
GATHERED = {
    "mapping": json.dumps({host: {"lldp": {"interface": [seen(tor)]}} for host, tor in RACKS.items()}),
    "one interface": json.dumps({host: {"lldp": {"interface": seen(tor)}} for host, tor in RACKS.items()}),
    "one after the other": "\n".join(
        json.dumps({"host": host, "lldp": {"interface": [seen(tor)]}}) for host, tor in RACKS.items()
    ),
    "list": json.dumps([{"hostname": host, "lldp": {"interface": [seen(tor)]}} for host, tor in RACKS.items()]),
    "local chassis": json.dumps(
        [
            {"local-chassis": {"chassis": {host: {"id": {"value": "x"}}}}, "lldp": {"interface": [seen(tor)]}}
            for host, tor in RACKS.items()
        ]
    ),
    "json0": json.dumps(
        [
            {
                "local-chassis": [{"chassis": [{"id": [{"value": "x"}], "name": [{"value": host}]}]}],
                "lldp": [{"interface": [seen0(tor)]}],
            }
            for host, tor in RACKS.items()
        ]
    ),
    "pdsh": "\n".join(
        f"{host}: {line}"
        for host, tor in RACKS.items()
        for line in json.dumps({"lldp": {"interface": [seen(tor)]}}, indent=1).split("\n")
    ),
}


@pytest.mark.parametrize("how", GATHERED)
def test_gathered_neighbours_however_they_are_put_together(how: str) -> None:
    """Two racks of two."""
    topology, _ = imported("lldp", GATHERED[how])
    assert domains(topology) == {1: sets("n0 n1", "n2 n3")}


def test_outputs_of_switches_say_what_is_above() -> None:
    """Two rails, a storage switch, two spines that only the leaves see."""
    topology, said = imported("lldp", (DATA / "neighbours.json").read_text())
    assert domains(topology) == {1: sets("n1 n2 n3 n4", "n5 n6 n7 n8"), 2: sets("n1 n2 n3 n4 n5 n6 n7 n8")}
    assert any("stor " in finding for finding in said)
    topology, said = imported("lldp", (DATA / "neighbours.json").read_text(), ignore=frozenset({"stor"}))
    assert {domain.name for domain in topology.domains} == {"leaf0a", "leaf1a", "spine1"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps({"lldp": {"interface": [seen("tor")]}}), "does not say which host"),
        (json.dumps({"n1": {"interfaces": {}}}), "has no `lldp`"),
        ("{", "not JSON"),
        ("{}", "has no `lldp`"),
        ("[1]", "expected a mapping"),
    ],
)
def test_what_is_no_lldp_output_is_refused(text: str, words: str) -> None:
    """With the way to gather it."""
    with pytest.raises(TopologyError, match=words):
        import_topology("lldp", source(text))


def test_switches_without_a_name_are_told_apart_by_their_identity() -> None:
    """A MAC address instead of a system name."""
    chassis = [
        {"id": {"type": "mac", "value": f"00:11:{at}"}, "capability": {"type": "Bridge", "enabled": True}}
        for at in range(2)
    ]
    text = json.dumps({f"n{at}": {"lldp": {"interface": {"eth0": {"chassis": chassis[at // 2]}}}} for at in range(4)})
    topology, _ = imported("lldp", text)
    assert domains(topology) == {1: sets("n0 n1", "n2 n3")}


def test_an_adapter_with_a_system_of_its_own_makes_no_switch_of_its_host() -> None:
    """The host sees it as a station beside its switches."""
    text = json.dumps(
        {
            host: {"lldp": {"interface": [seen(tor), seen(f"{host}-dpu", "eth1", ("Station",))]}}
            for host, tor in RACKS.items()
        }
    )
    topology, said = imported("lldp", text)
    assert domains(topology) == {1: sets("n0 n1", "n2 n3")}
    assert any("4 cables between hosts" in finding for finding in said)


def test_outputs_of_leaves_alone() -> None:
    """Which see their hosts and the spine."""
    leaves = {f"leaf{at}": [f"n{2 * at}", f"n{2 * at + 1}"] for at in range(2)}
    text = json.dumps(
        {
            leaf: {"lldp": {"interface": [seen("spine"), *(seen(host, host, ("Station",)) for host in hosts)]}}
            for leaf, hosts in leaves.items()
        }
    )
    topology, _ = imported("lldp", text)
    assert domains(topology) == {1: sets("n0 n1", "n2 n3"), 2: sets("n0 n1 n2 n3")}
