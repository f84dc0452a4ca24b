"""Collected only with LWS_VOLCANO_E2E=1; refuses any context that is not named kind-*."""

import os
import subprocess

import pytest

collect_ignore_glob = [] if os.environ.get("LWS_VOLCANO_E2E") == "1" else ["test_*.py"]


def pytest_collection_modifyitems(items):
    """Mark everything here."""
    for item in items:
        if "tests/e2e" in item.path.as_posix():
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def context():
    """Name of the context; a kind cluster or nothing."""
    command = ["kubectl", "config", "current-context"]
    name = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.strip()
    if not name.startswith("kind-"):
        pytest.fail(f"context {name!r} is not a kind cluster; this test creates and deletes things and goes no further")
    return name
