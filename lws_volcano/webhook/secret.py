"""The Secret that replicas share their certificate through, as an object of the API. Pure.

Type `kubernetes.io/tls` with the usual keys, so that a Secret written by cert-manager can stand in its place.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from lws_volcano.api.names import MANAGED_BY, MANAGER
from lws_volcano.webhook.certificates import Material

__all__ = ["material_of", "new_secret", "secret_patch"]

_CA: Final = "ca.crt"
_CA_KEY: Final = "ca.key"
_CERTIFICATE: Final = "tls.crt"
_KEY: Final = "tls.key"


def new_secret(namespace: str, name: str, material: Material) -> dict[str, Any]:
    """A Secret that does not exist yet."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": {MANAGED_BY: MANAGER}},
        "type": "kubernetes.io/tls",
        "data": _data(material),
    }


def secret_patch(material: Material, version: str) -> dict[str, Any]:
    """Merge patch for one that exists, refused when it has changed since `version`; its type can't change and stays."""
    return {"metadata": {"resourceVersion": version}, "data": _data(material)}


def material_of(raw: Mapping[str, Any]) -> Material | None:
    """The material in a Secret; None when a part is missing or is not base64."""
    data = raw.get("data") or {}
    try:
        parts = {key: base64.b64decode(value, validate=True) for key, value in data.items()}
    except (binascii.Error, ValueError, TypeError):
        return None
    if not (parts.get(_CA) and parts.get(_CERTIFICATE) and parts.get(_KEY)):
        return None
    return Material(
        ca_bundle=parts[_CA], ca_key=parts.get(_CA_KEY, b""), certificate=parts[_CERTIFICATE], key=parts[_KEY]
    )


def _data(material: Material) -> dict[str, str]:
    parts = {
        _CA: material.ca_bundle, _CA_KEY: material.ca_key, _CERTIFICATE: material.certificate, _KEY: material.key,
    }  # fmt: skip
    return {key: base64.b64encode(value).decode() for key, value in parts.items() if value}
