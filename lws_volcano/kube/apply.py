"""The sorts of writes there are.

Objects are applied server-side under one field manager, with only our own fields. `force` takes back a field of ours
that somebody else has changed; whether that is right was decided before (`mapping`).
"""

from collections.abc import Mapping
from typing import Any

from lws_volcano.api.names import MANAGER
from lws_volcano.kube.client import APPLY, MERGE, STRATEGIC, TIMEOUT, Client, Json
from lws_volcano.kube.resources import PODS, Resource

__all__ = ["apply", "apply_status", "delete", "merge", "remove_gate"]


async def apply(client: Client, resource: Resource, manifest: Mapping[str, Any], *, within: float = TIMEOUT) -> Json:
    """Server-side apply; gives the object as it is now.

    A `metadata.uid` in the manifest is a precondition: Conflict when the object of that name is another.
    """
    return await client.request(
        "PATCH",
        resource.path_of(dict(manifest)),
        query=_QUERY,
        body=manifest,
        content_type=APPLY,
        within=within,
    )


async def apply_status(
    client: Client, resource: Resource, manifest: Mapping[str, Any], *, within: float = TIMEOUT
) -> Json:
    """Server-side apply to the status sub-resource; what we applied before and leave out now is removed."""
    return await client.request(
        "PATCH",
        f"{resource.path_of(dict(manifest))}/status",
        query=_QUERY,
        body=manifest,
        content_type=APPLY,
        within=within,
    )


async def merge(
    client: Client, resource: Resource, namespace: str, name: str, patch: Mapping[str, Any], *, within: float = TIMEOUT
) -> Json:
    """JSON merge patch; a `metadata.uid` in it is a precondition."""
    return await client.request(
        "PATCH",
        resource.path(namespace, name),
        query={"fieldManager": MANAGER},
        body=patch,
        content_type=MERGE,
        within=within,
    )


async def remove_gate(
    client: Client, namespace: str, name: str, gate: str, *, uid: str, within: float = TIMEOUT
) -> Json:
    """Take one scheduling gate off the pod of this UID, whatever other gates there are."""
    return await client.request(
        "PATCH",
        PODS.path(namespace, name),
        query={"fieldManager": MANAGER},
        body={"metadata": {"uid": uid}, "spec": {"schedulingGates": [{"$patch": "delete", "name": gate}]}},
        content_type=STRATEGIC,
        within=within,
    )


async def delete(
    client: Client, resource: Resource, namespace: str, name: str, *, uid: str, within: float = TIMEOUT
) -> Json:
    """Delete the object of this UID and no other (Conflict); gives the object while a finalizer holds it."""
    body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
    return await client.request("DELETE", resource.path(namespace, name), body=body, within=within)


_QUERY = {"fieldManager": MANAGER, "force": "true"}
