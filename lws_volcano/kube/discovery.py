"""What is installed and how it is configured: read from definitions and configuration, not guessed from versions."""

from collections.abc import Mapping
from typing import Any

from lws_volcano.kube.client import Client, Json
from lws_volcano.kube.errors import ApiError
from lws_volcano.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, POD_GROUPS, Resource
from lws_volcano.mapping.scheduler_config import why_topology_is_ignored
from lws_volcano.mapping.snapshot import Capabilities

__all__ = ["capabilities", "fields_of"]


async def capabilities(client: Client, scheduler_config: str = "") -> Capabilities:
    """What the installed PodGroup can hold, and whether the scheduler heeds it.

    Everything is assumed where it may not be read.

    Parameters
    ----------
    client
        To ask with.
    scheduler_config
        `namespace/name` of the scheduler's ConfigMap; empty: it is not looked at.

    Raises
    ------
    Unavailable
        The API server does not answer.
    """
    ignored = await _ignored(client, scheduler_config) if scheduler_config else ""
    definition = await _try(client, CUSTOM_RESOURCE_DEFINITIONS, "", f"{POD_GROUPS.plural}.{POD_GROUPS.group}")
    if definition is None:
        return Capabilities(topology_ignored=ignored)
    spec = fields_of(definition, POD_GROUPS, "spec")
    sub_groups = (spec.get("subGroupPolicy") or {}).get("items") or {}
    return Capabilities(
        network_topology="networkTopology" in spec,
        sub_groups="matchLabelKeys" in (sub_groups.get("properties") or {}),
        topology_ignored=ignored,
    )


async def _ignored(client: Client, scheduler_config: str) -> str:
    namespace, _, name = scheduler_config.partition("/")
    found = await _try(client, CONFIG_MAPS, namespace, name)
    return why_topology_is_ignored(found.get("data") or {}, f"ConfigMap {scheduler_config}") if found else ""


async def _try(client: Client, resource: Resource, namespace: str, name: str) -> Json | None:
    try:
        return await client.get(resource, namespace, name)
    except ApiError:
        return None


def fields_of(definition: Mapping[str, Any], resource: Resource, part: str) -> Mapping[str, Any]:
    """Properties of `spec` or `status` in the schema of the version that we use; empty when there is no schema."""
    wanted = resource.api_version.rpartition("/")[2]
    for version in definition.get("spec", {}).get("versions") or ():
        if version.get("name") == wanted:
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            fields: Mapping[str, Any] = (schema.get("properties") or {}).get(part, {}).get("properties") or {}
            return fields
    return {}
