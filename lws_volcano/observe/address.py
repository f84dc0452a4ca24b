"""Where this process is reached: by those who look at its health, and by the API server."""

from typing import NamedTuple

__all__ = ["Address"]


class Address(NamedTuple):
    """Where to listen; port 0 is any free one."""

    host: str
    port: int
