"""The teaching manifests of ../shared/cases: verdict, numbers, queue and priority class of every file.

minResources is checked twice: against the written answer, and against a calculation made here that shares no code with
the product (fractions, straight from the rule in FACTS section 5). Left out: where pods would go.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from lws_volcano.api import names
from lws_volcano.api.settings import Settings
from lws_volcano.api.workloads import DisaggregatedSet, LeaderWorkerSet
from lws_volcano.mapping.disaggregated import children
from lws_volcano.mapping.offline import OfflinePlan, plan_offline
from lws_volcano.mapping.snapshot import Snapshot
from tests.unit.mapping.builders import NOW

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "manifests"
FILES = sorted(CASES.glob("*.yaml"))
pytestmark = pytest.mark.skipif(not FILES, reason="../shared/cases is not here")

SUFFIX = {
    **{
        s: Fraction(10) ** p
        for s, p in {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}.items()
    },
    **{s + "i": Fraction(1024) ** p for s, p in {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}.items()},
}


def number(value: Any) -> Fraction:
    """A quantity as a fraction."""
    text = str(value)
    for suffix in sorted(SUFFIX, key=len, reverse=True):
        head = text.removesuffix(suffix)
        if head != text and not (suffix == "E" and head[-1:] in "+-"):
            return Fraction(head.rstrip(".") or "0") * SUFFIX[suffix]
    return Fraction(text.rstrip("."))


def load(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The object, opted in as the README says, and its expectation."""
    text = path.read_text()
    expected = "\n".join(line[2:] for line in text.partition("# expect:\n")[2].splitlines())
    return yaml.safe_load(text), yaml.safe_load(expected)


def pod_templates(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The pod templates of a group template."""
    group = raw["spec"]["leaderWorkerTemplate"]
    yield from (group[key] for key in ("leaderTemplate", "workerTemplate") if key in group)


def opted_in(raw: dict[str, Any]) -> LeaderWorkerSet:
    """The LWS with the opt-in, and with the scheduler where no template names one."""
    raw["metadata"].setdefault("annotations", {})[names.GANG] = "true"
    found = list(pod_templates(raw))
    if not any("schedulerName" in one["spec"] for one in found):
        for one in found:
            one["spec"]["schedulerName"] = "volcano"
    return LeaderWorkerSet.parse(raw)


def plan(lws: LeaderWorkerSet) -> OfflinePlan:
    """What the product says."""
    return plan_offline(Snapshot(lws=lws, now=NOW, settings=Settings()))


def asked(resources: Mapping[str, Any] | None) -> dict[str, Fraction]:
    """Requests of one container, limits where a request is missing."""
    resources = resources or {}
    both = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: number(value) for name, value in both.items()}


def of_pod(spec: Mapping[str, Any]) -> dict[str, Fraction]:
    """max(sum of apps and sidecars, each init container and the sidecars before it), per resource."""
    apps, sidecars, peaks = [], [], []
    for one in spec.get("initContainers") or []:
        if one.get("restartPolicy") == "Always":
            sidecars.append(asked(one.get("resources")))
            peaks.append(total(sidecars))
        else:
            peaks.append(total([*sidecars, asked(one.get("resources"))]))
    apps = [asked(one.get("resources")) for one in spec["containers"]]
    running = total([*apps, *sidecars])
    every = {name for part in (running, *peaks) for name in part}
    return {name: max(part.get(name, Fraction(0)) for part in (running, *peaks)) for name in every}


def total(parts: list[dict[str, Fraction]]) -> dict[str, Fraction]:
    """Sum by name."""
    every = {name for part in parts for name in part}
    return {name: sum((part.get(name, Fraction(0)) for part in parts), Fraction(0)) for name in every}


def of_group(raw: Mapping[str, Any]) -> dict[str, Fraction]:
    """Leader + (size - 1) workers, without zeros."""
    group = raw["spec"]["leaderWorkerTemplate"]
    worker = of_pod(group["workerTemplate"]["spec"])
    leader = of_pod(group["leaderTemplate"]["spec"]) if "leaderTemplate" in group else worker
    whole = total([leader, *[worker] * (group["size"] - 1)])
    return {name: value for name, value in whole.items() if value}


def check(found: OfflinePlan, expected: Mapping[str, Any], raw: Mapping[str, Any]) -> None:
    """Every group has the PodGroup that is written in the file."""
    assert len(found.groups) == expected["groups"]
    for one in found.groups:
        assert one.manifest is not None
        spec = one.manifest["spec"]
        assert spec["minMember"] == expected["minMember"]
        assert spec["minTaskMember"] == expected["minTaskMember"]
        wanted = {name: number(value) for name, value in expected["minResources"].items()}
        assert {name: number(value) for name, value in spec.get("minResources", {}).items()} == wanted
        assert of_group(raw) == wanted
        assert spec["queue"] == expected["queue"]
        assert spec.get("priorityClassName") == expected["priorityClassName"]
        assert one.manifest["metadata"]["namespace"] == (raw["metadata"].get("namespace") or "default")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_manifest_gets_the_written_answer(path):
    """The PodGroups of the file are those of its expectation, or it is refused for the reason given."""
    raw, expected = load(path)
    if expected["verdict"] == "children":
        parent = DisaggregatedSet.parse(raw)
        for role, child in zip(raw["spec"]["roles"], children(parent), strict=True):
            document = {"metadata": dict(child.metadata.manifest()), "spec": role["spec"]}
            check(plan(opted_in(document)), expected["roles"][role["name"]], document)
        return
    found = plan(opted_in(raw))
    if expected["verdict"] == "refuse":
        assert found.refusal is not None
        assert expected["reason"] in found.refusal.message
        assert all(one.manifest is None for one in found.groups)
        return
    check(found, expected, raw)


@pytest.mark.parametrize("name", ["m22-kueue-tas-rack"])
def test_a_second_topology_planner_is_named_in_the_condition(name):
    """Kueue's topology annotations are reported, and no second choice of a rack is written."""
    found = plan(opted_in(load(CASES / f"{name}.yaml")[0]))
    assert found.condition is not None
    assert found.condition.reason == "TwoTopologyPlanners"
    assert all("networkTopology" not in one.manifest["spec"] for one in found.groups if one.manifest)
