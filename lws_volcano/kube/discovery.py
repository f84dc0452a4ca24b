"""What is installed: read from the CustomResourceDefinitions, not guessed from versions."""

from collections.abc import Mapping
from typing import Any

from lws_volcano.kube.client import Client
from lws_volcano.kube.errors import ApiError
from lws_volcano.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, POD_GROUPS, Resource
from lws_volcano.mapping.snapshot import Capabilities

__all__ = ["capabilities", "fields_of"]


async def capabilities(client: Client) -> Capabilities:
    """What the installed PodGroup can hold; everything is assumed where its definition may not be read.

    Raises
    ------
    Unavailable
        The API server does not answer.
    """
    try:
        definition = await client.get(CUSTOM_RESOURCE_DEFINITIONS, "", f"{POD_GROUPS.plural}.{POD_GROUPS.group}")
    except ApiError:
        return Capabilities()
    spec = fields_of(definition, POD_GROUPS, "spec")
    sub_groups = (spec.get("subGroupPolicy") or {}).get("items") or {}
    return Capabilities(
        network_topology="networkTopology" in spec,
        sub_groups="matchLabelKeys" in (sub_groups.get("properties") or {}),
    )


def fields_of(definition: Mapping[str, Any], resource: Resource, part: str) -> Mapping[str, Any]:
    """Properties of `spec` or `status` in the schema of the version that we use; empty when there is no schema."""
    wanted = resource.api_version.rpartition("/")[2]
    for version in definition.get("spec", {}).get("versions") or ():
        if version.get("name") == wanted:
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            fields: Mapping[str, Any] = (schema.get("properties") or {}).get(part, {}).get("properties") or {}
            return fields
    return {}
