"""A scripted API server and a client of it."""

from collections.abc import AsyncIterator

import pytest

from lws_volcano.kube.client import Client
from tests.contract.api_server import ApiServer


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """An empty API server."""
    async with ApiServer() as running:
        yield running


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[Client]:
    """A client of it."""
    async with Client.at(server.url) as connected:
        yield connected
