"""How the real LWS and Volcano programs would be started.

Covers reading the environment, the order of programs, their files, and the documents for the API server. Leaves out
starting them: the integration suite does, where the environment names them.
"""

import json
from pathlib import Path

import pytest

from deploy.local.errors import LocalError
from deploy.local.real_documents import ADMISSION_RULES, lws_documents, volcano_documents
from deploy.local.real_programs import (
    ADMISSIONS,
    LWS_MANAGER,
    VC_CONTROLLER_MANAGER,
    VC_SCHEDULER,
    RealPrograms,
    Site,
)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """An executable file."""
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A folder with certificate files in it."""
    for name in ("tls.crt", "tls.key", "ca.crt"):
        (tmp_path / name).write_text(name)
    return Site(
        kubeconfig=tmp_path / "kubeconfig",
        folder=tmp_path,
        certificate=tmp_path / "tls.crt",
        key=tmp_path / "tls.key",
        authority=tmp_path / "ca.crt",
    )


def test_nothing_named_means_stand_ins(site: Site) -> None:
    """Without variables there is nothing to start."""
    programs = RealPrograms.from_environment({})
    assert programs.lws(site) is None
    assert programs.volcano(site) is None


def test_a_path_that_is_no_program_is_refused(tmp_path: Path) -> None:
    """The message names the variable and the path."""
    missing = str(tmp_path / "nowhere")
    with pytest.raises(LocalError, match=f"{LWS_MANAGER} names {missing}"):
        RealPrograms.from_environment({LWS_MANAGER: missing})


def test_half_of_volcano_is_refused(program: Path) -> None:
    """The scheduler does not go without its controllers."""
    with pytest.raises(LocalError, match=f"set both {VC_SCHEDULER} and {VC_CONTROLLER_MANAGER}"):
        RealPrograms.from_environment({VC_SCHEDULER: str(program)})


def test_admission_server_starts_before_the_scheduler(program: Path, site: Site) -> None:
    """The scheduler's own queues pass through it."""
    programs = RealPrograms(vc_scheduler=program, vc_controller_manager=program, vc_webhook_manager=program)
    plan = programs.volcano(site)
    assert plan is not None
    assert [one.name for one in plan.programs] == ["vc-webhook-manager", "vc-controller-manager", "vc-scheduler"]
    assert len({one.port for one in plan.programs}) == 3


def test_without_admission_server_there_are_no_webhooks(program: Path, site: Site) -> None:
    """A configuration that nobody serves would refuse every PodGroup."""
    plan = RealPrograms(vc_scheduler=program, vc_controller_manager=program).volcano(site)
    assert plan is not None
    assert {document["kind"] for document in plan.documents} == {"Namespace", "CustomResourceDefinition"}


def test_the_provider_of_lws_is_off_unless_asked_for(program: Path, site: Site) -> None:
    """Its switch is in the configuration file."""
    for wanted in (False, True):
        RealPrograms(lws_manager=program, lws_provider=wanted).lws(site)
        configuration = json.loads((site.folder / "lws.json").read_text())
        assert ("gangSchedulingManagement" in configuration) is wanted


def test_webhooks_of_lws_see_only_its_pods() -> None:
    """With failurePolicy Fail, anything wider would stop the cluster with it."""
    webhooks = [one for document in lws_documents(1, b"") for one in document.get("webhooks", [])]
    pods = [one for one in webhooks if one["rules"][0]["resources"] == ["pods"]]
    assert len(pods) == 2
    assert all("objectSelector" in one for one in pods)


def test_disaggregated_sets_have_a_status_to_write() -> None:
    """Its controller makes no child before it could write there."""
    kinds = [one for one in lws_documents(1, b"") if one["kind"] == "CustomResourceDefinition"]
    served = {one["spec"]["names"]["kind"]: one["spec"]["versions"][0] for one in kinds}
    assert served["DisaggregatedSet"]["subresources"] == {"status": {}}


def test_every_admission_has_the_name_that_volcano_looks_up() -> None:
    """It waits for minutes for one that is missing."""
    names = {document["metadata"]["name"] for document in volcano_documents(1, b"", ADMISSIONS)}
    assert {f"volcano-admission-service{path.replace('/', '-')}" for path in ADMISSIONS} <= names
    assert {path.split("/")[1] for path in ADMISSIONS} == set(ADMISSION_RULES)
