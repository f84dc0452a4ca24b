"""The bytes of a file or of standard input, or one line that says why there are none."""

import sys
from pathlib import Path
from typing import Final

from lws_volcano.api.errors import InputError

__all__ = ["read_bytes", "shown"]

_STANDARD_INPUT: Final = "-"


def read_bytes(path: str) -> bytes:
    """Content of a file, `-` for standard input.

    Raises
    ------
    InputError
        It can't be read.
    """
    try:
        return sys.stdin.buffer.read() if path == _STANDARD_INPUT else Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"can't be read: {error.strerror or error}", where=shown(path), mend="check the path"
        ) from None


def shown(path: str) -> str:
    """How messages call it."""
    return "standard input" if path == _STANDARD_INPUT else path
