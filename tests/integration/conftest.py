"""One real control plane a session (and worker), with LeaderWorkerSet and Volcano (or their stand-ins) on it.

`control_plane` is shared; `world` gives each test a namespace of its own and an empty cluster. `running_controller` is
shared as well, for tests that do not start or kill it; `watched` is a world in which it works, with the observer on.
"""

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import pytest_asyncio

from deploy.local.api import Api
from deploy.local.binaries import binaries
from deploy.local.control_plane import ControlPlane
from deploy.local.programs import Programs, start_programs
from deploy.local.resources import CLUSTER_TOPOLOGIES, NAMESPACES
from tests.integration.controllers import Controller, Shared, controller_of, our_writes
from tests.integration.observer import Observer
from tests.integration.world import World

HERE = Path(__file__).parent
OUR_CRDS = HERE.parents[1] / "crds"
PERIOD = 0.1
"""Seconds between scheduling sessions: short, so that tests are."""

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, so that `-m "not integration"` leaves it out; the first start may build for minutes."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.integration)
            # A dozen real programs on two cores: what fails by the clock alone is tried once more, and shown as rerun.
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))
    # Begun last they would be the end of the run, on one of several workers.
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what is missing before the first test, outside of its timeout and with the progress shown."""
    wanted = any(HERE in item.path.parents for item in session.items)
    if not wanted or session.config.option.collectonly:
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        binaries()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """A running control plane with the CRDs of LWS, Volcano and this project."""
    async with ControlPlane(crds=sorted(OUR_CRDS.glob("*.yaml"))) as plane:
        yield plane


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def programs(control_plane: ControlPlane) -> Programs:
    """LeaderWorkerSet and Volcano on it."""
    return await start_programs(control_plane, period=PERIOD)


@pytest_asyncio.fixture
async def api(control_plane: ControlPlane) -> AsyncIterator[Api]:
    """A client with all rights."""
    async with control_plane.api("test") as client:
        yield client


@pytest_asyncio.fixture
async def namespace(api: Api) -> str:
    """A namespace of the test's own. It stays: to delete one costs the API server some requests for every kind."""
    name = f"test-{os.getpid()}-{next(_numbers)}"
    await api.create(NAMESPACES, {"metadata": {"name": name}})
    return name


@pytest_asyncio.fixture
async def world(
    control_plane: ControlPlane, programs: Programs, api: Api, namespace: str, request: pytest.FixtureRequest
) -> AsyncIterator[World]:
    """The test's part of the cluster; no controller of other tests runs in it unless this one asks for it."""
    part = World(control_plane, api, namespace, programs)
    if "running_controller" not in request.fixturenames:
        await Shared.pause()
    yield part
    await part.clean()


@pytest.fixture(scope="session")
def shared_controller(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Starts with the first test that asks for it."""
    return Shared(tmp_path_factory.mktemp("controller"))


@pytest_asyncio.fixture
async def running_controller(world: World, shared_controller: Shared) -> Controller:
    """A controller that runs, with the chart's rights."""
    return await shared_controller.ensure(world)


@pytest_asyncio.fixture
async def controller(world: World, tmp_path: Path) -> AsyncIterator[Controller]:
    """A controller of the test's own, not started yet; ClusterTopologies go with the test."""
    async with controller_of(world, tmp_path) as made:
        yield made
        if made.started:
            await made.stop()
    await world.api.request("DELETE", CLUSTER_TOPOLOGIES.path())


@pytest_asyncio.fixture
async def watched(world: World, running_controller: Controller) -> AsyncIterator[World]:
    """A world with a running controller, whose every event is held against the rules; its `events` are recorded."""
    async with world.recorder() as recorder:
        observer = Observer(recorder)
        world.recording, world.check = recorder, observer.check
        yield world
        world.check = lambda: None
        await observer.finish(world.forgive, lambda: our_writes(world))
    assert not [line for line in running_controller.log() if "Traceback" in line]
