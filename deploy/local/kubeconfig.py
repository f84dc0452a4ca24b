"""Kubeconfig files: written for the control plane's users, read by our own small client."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from deploy.local.certificates import Identity
from deploy.local.errors import LocalError

__all__ = ["Access", "write_kubeconfig"]


def write_kubeconfig(path: Path, server: str, authority: Path, identity: Identity) -> Path:
    """Write a kubeconfig for one user; certificates are named by their files."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "local",
        "clusters": [{"name": "local", "cluster": {"server": server, "certificate-authority": str(authority)}}],
        "users": [
            {
                "name": "local",
                "user": {"client-certificate": str(identity.certificate), "client-key": str(identity.key)},
            }
        ],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": "local"}}],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Access:
    """How to reach one API server: its address and the user's certificate."""

    server: str
    ssl: ssl.SSLContext

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a kubeconfig such as `write_kubeconfig` makes.

        Raises
        ------
        LocalError
            The file is missing or of another shape.
        """
        try:
            document: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
            cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
            context = ssl.create_default_context(cafile=cluster["certificate-authority"])
            context.load_cert_chain(user["client-certificate"], user["client-key"])
            return cls(str(cluster["server"]), context)
        except (OSError, KeyError, IndexError, TypeError, yaml.YAMLError) as error:
            raise LocalError(f"{path}: not a kubeconfig of a local control plane ({error!r})") from error
