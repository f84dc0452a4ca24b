"""What can come back from an API server instead of an answer.

    ClusterError
     +-- ConfigurationError     no cluster to talk to: kubeconfig missing or unreadable
     +-- Unavailable            no answer: refused, reset, timed out, not JSON
     +-- ApiError               an answer, and it is no
          +-- Invalid             400, 422: the object is refused as it stands
          +-- Unauthorized        401
          +-- Forbidden           403
          +-- NotFound            404
          +-- Conflict            409: another version, another UID, another manager's field
          |    +-- AlreadyExists    409 on create
          +-- Gone                410: the resource version has expired
          +-- TooManyRequests     429, with the seconds to wait
          +-- ServerError         5xx, with the seconds to wait where the server says so

`Unavailable`, `Unauthorized`, `TooManyRequests` and `ServerError` pass by themselves: try again later.
"""

# ruff: noqa: N818 - the names are those that the API server uses

import json
from collections.abc import Mapping
from typing import Any, Final

from lws_volcano.api.errors import ClusterError

__all__ = [
    "AlreadyExists",
    "ApiError",
    "ConfigurationError",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "NotFound",
    "ServerError",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "error_of",
    "error_of_status",
]

BODY_LIMIT: Final = 256
"""Characters of a body that are quoted: a proxy's HTML page must not fill the log."""


class ConfigurationError(ClusterError):
    """There is no cluster to talk to: the kubeconfig is missing, unreadable, or names no such context."""


class Unavailable(ClusterError):
    """No answer: connection refused or reset, time out, or a body that is not JSON."""


class ApiError(ClusterError):
    """The API server answered no.

    Attributes
    ----------
    status
        HTTP status.
    reason
        `reason` of the Status object, such as `NotFound`; empty when the body was none.
    message
        Its message, or the beginning of the body.
    retry_after
        Seconds that the server wants us to wait; None when it does not say.
    """

    def __init__(self, status: int, reason: str = "", message: str = "", retry_after: float | None = None) -> None:
        super().__init__(f"{status} {reason}: {message}" if reason else f"{status}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after


class Invalid(ApiError):
    """The object is refused as it stands (schema, validation, admission)."""


class Unauthorized(ApiError):
    """The credentials are not taken (any more)."""

    STATUS: Final = 401


class Forbidden(ApiError):
    """RBAC, or a webhook, says no."""


class NotFound(ApiError):
    """No such object, or no such kind."""


class Conflict(ApiError):
    """The object has another version, another UID, or the field another manager."""


class AlreadyExists(Conflict):
    """There is an object of this name."""


class Gone(ApiError):
    """The resource version asked for has expired: list again."""


class TooManyRequests(ApiError):
    """The API server sheds load."""


class ServerError(ApiError):
    """5xx."""


_BY_STATUS: Final[Mapping[int, type[ApiError]]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}
_SERVER_ERROR: Final = 500


def error_of(status: int, body: bytes, retry_after: str = "") -> ApiError:
    """The error of an HTTP answer.

    Parameters
    ----------
    status
        HTTP status, 300 or above.
    body
        As received: a Status object, or anything (HTML of a proxy).
    retry_after
        Value of the Retry-After header.
    """
    try:
        decoded = json.loads(body)
    except ValueError:
        decoded = None
    if isinstance(decoded, dict) and decoded.get("kind") == "Status":
        return error_of_status({**decoded, "code": status}, retry_after)
    text = " ".join(body[: 4 * BODY_LIMIT].decode(errors="replace").split())
    return _make(status, "", text, _seconds(retry_after))


def error_of_status(status: Mapping[str, Any], retry_after: str = "") -> ApiError:
    """The error of a Status object, as in an answer or in an ERROR event of a watch."""
    details = status.get("details") or {}
    seconds = _seconds(retry_after) or _seconds(str(details.get("retryAfterSeconds") or ""))
    return _make(int(status.get("code") or 0), status.get("reason") or "", status.get("message") or "", seconds)


def _make(status: int, reason: str, message: str, retry_after: float | None) -> ApiError:
    kind = _BY_STATUS.get(status, ServerError if status >= _SERVER_ERROR else ApiError)
    if reason == "AlreadyExists":
        kind = AlreadyExists
    elif reason in {"Expired", "Gone"}:
        kind = Gone
    return kind(status, reason, message[:BODY_LIMIT], retry_after)


def _seconds(text: str) -> float | None:
    # Retry-After may also be a date; the API server sends seconds only.
    return float(text) if text.isdecimal() and text != "0" else None
