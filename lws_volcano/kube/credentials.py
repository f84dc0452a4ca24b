"""Where the cluster is and who we are.

Loading is kubernetes_asyncio's: kubeconfig with client certificates, tokens, token files, exec plugins and OIDC, or the
service account of the pod. This module finds the right source, gives errors that say what to do, and reads tokens anew.
A client certificate from an exec plugin is read once: its renewal needs a restart.
"""

import os
from pathlib import Path
from typing import Any, Final

import yaml

from lws_volcano.kube.clock import Clock
from lws_volcano.kube.errors import ConfigurationError

__all__ = ["Credentials", "load_credentials"]

REFRESH: Final = 60.0
"""Seconds after which the source of the token is asked again (it has its own cache)."""


class Credentials:
    """The loaded configuration and its bearer token."""

    def __init__(self, configuration: Any, loader: Any, clock: Clock) -> None:
        self.configuration = configuration
        self._loader = loader
        self._clock = clock
        self._read_at = clock.monotonic()

    async def headers(self) -> dict[str, str]:
        """Authorization header, empty where a client certificate speaks for us."""
        if self._clock.monotonic() - self._read_at >= REFRESH:
            await self.refresh()
        token = self.configuration.api_key.get("BearerToken")
        return {"Authorization": token} if token else {}

    def expire(self) -> None:
        """The token was refused: read it again before the next request."""
        self._read_at = -REFRESH

    async def refresh(self) -> None:
        """Read the token again."""
        self._read_at = self._clock.monotonic()
        try:
            if self._loader is not None:
                await self._loader.load_and_set(self.configuration)
            elif self.configuration.refresh_api_key_hook is not None:
                self.configuration.refresh_api_key_hook(self.configuration)
        except Exception as error:
            raise ConfigurationError(f"cannot renew the cluster credentials: {error}") from error


async def load_credentials(kubeconfig: str | None, context: str | None, clock: Clock) -> Credentials:
    """Credentials from the named kubeconfig, else the pod's service account, else $KUBECONFIG or ~/.kube/config.

    Raises
    ------
    ConfigurationError
        There is none, or it cannot be read; the message says which and what to do.
    """
    from kubernetes_asyncio.client.configuration import Configuration  # noqa: PLC0415 - half a second to import
    from kubernetes_asyncio.config import ConfigException, load_incluster_config, load_kube_config  # noqa: PLC0415

    configuration = Configuration()
    try:
        if kubeconfig is None and context is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            return Credentials(configuration, None, clock)
        paths = _existing(kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config"))
        loader = await load_kube_config(
            config_file=paths, context=context, client_configuration=configuration, persist_config=False
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(
            "cannot read the cluster configuration: it is no kubeconfig; kubectl config view shows what one looks like"
        ) from error
    except (ConfigException, yaml.YAMLError, OSError, ValueError) as error:
        said = " ".join(str(error).split())
        raise ConfigurationError(f"cannot read the cluster configuration: {said}") from error
    return Credentials(configuration, loader, clock)


def _existing(paths: str) -> str:
    if not any(Path(path).expanduser().is_file() for path in paths.split(os.pathsep) if path):
        raise ConfigurationError(f"no kubeconfig at {paths}: give --kubeconfig FILE or set KUBECONFIG")
    return paths
