"""CustomResourceDefinitions for the local control plane: small ones of ours, not the projects' own files.

They have the fields, types, defaults, enums and sub-resources of the originals as far as this project and its tests
touch them (a test compares the two); pod templates are kept whole without a schema.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.local.api import Api
from deploy.local.errors import ApiError, LocalError
from deploy.local.resources import CRDS

__all__ = ["FOLDER", "documents", "install"]

FOLDER: Final = Path(__file__).parent
TIMEOUT: Final = 20.0


def documents(extra: Sequence[Path] = ()) -> list[dict[str, Any]]:
    """Our CRD documents and those of `extra` files."""
    files = [*sorted(FOLDER.glob("*.yaml")), *extra]
    return [document for file in files for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))]


async def install(api: Api, extra: Sequence[Path] = ()) -> None:
    """Create or update them and wait until the API server serves each.

    Raises
    ------
    LocalError
        One is not served in time; the message has its conditions.
    """
    wanted = documents(extra)
    await asyncio.gather(*(api.apply(CRDS, document, "local") for document in wanted))
    await asyncio.gather(*(_served(api, document) for document in wanted))


async def _served(api: Api, document: dict[str, Any]) -> None:
    group, plural = document["spec"]["group"], document["spec"]["names"]["plural"]
    version = document["spec"]["versions"][0]["name"]
    found: dict[str, Any] = {}
    async with asyncio.timeout(TIMEOUT):
        while not _established(found):
            await asyncio.sleep(0.05)
            found = await api.get(CRDS, document["metadata"]["name"])
            refused = _condition(found, "NamesAccepted", "False")
            if refused:
                raise LocalError(f"the API server does not accept {plural}.{group}: {refused['message']}")
        while not await _answers(api, f"/apis/{group}/{version}/{plural}"):
            await asyncio.sleep(0.05)


async def _answers(api: Api, path: str) -> bool:
    try:
        await api.request("GET", path, params={"limit": "1"})
    except ApiError as error:
        if error.status in {404, 503}:
            return False
        raise
    return True


def _established(found: dict[str, Any]) -> bool:
    return _condition(found, "Established", "True") is not None


def _condition(found: dict[str, Any], kind: str, status: str) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = found.get("status", {}).get("conditions") or []
    return next((c for c in conditions if c["type"] == kind and c["status"] == status), None)
