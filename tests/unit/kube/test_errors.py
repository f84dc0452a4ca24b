"""Answers that are no: which error, what it says, how long to wait.

Covers: Status objects, bodies that are none, Retry-After. Leaves out: how they arise (tests/contract).
"""

import json

import pytest

from lws_volcano.kube import errors


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (404, "NotFound", errors.NotFound),
        (409, "Conflict", errors.Conflict),
        (409, "AlreadyExists", errors.AlreadyExists),
        (410, "Expired", errors.Gone),
        (403, "Forbidden", errors.Forbidden),
        (401, "Unauthorized", errors.Unauthorized),
        (422, "Invalid", errors.Invalid),
        (400, "BadRequest", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.ServerError),
        (504, "Timeout", errors.ServerError),
        (418, "", errors.ApiError),
    ],
)
def test_each_status_has_its_error(status: int, reason: str, kind: type[errors.ApiError]) -> None:
    """And says what the server said."""
    body = json.dumps({"kind": "Status", "reason": reason, "message": "because"}).encode()
    error = errors.error_of(status, body)
    assert type(error) is kind
    assert (error.status, error.reason, error.message) == (status, reason, "because")


def test_a_page_of_html_is_cut_short() -> None:
    """256 characters on one line are enough to see what it is."""
    error = errors.error_of(502, b"<html>\n" + b"<p>bad gateway</p>\n" * 5000)
    assert len(error.message) == errors.BODY_LIMIT
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("body", "header", "seconds"),
    [
        (b"", "3", 3.0),
        (b"", "", None),
        (b"", "Wed, 21 Oct 2026 07:28:00 GMT", None),
        (b'{"kind": "Status", "details": {"retryAfterSeconds": 7}}', "", 7.0),
    ],
)
def test_how_long_to_wait_is_the_header_or_the_detail(body: bytes, header: str, seconds: float | None) -> None:
    """Whole seconds; a date is not read."""
    assert errors.error_of(429, body, header).retry_after == seconds


def test_the_tree_is_what_its_header_says() -> None:
    """Public names, pinned."""
    assert set(errors.__all__) == {
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
    }
    assert issubclass(errors.AlreadyExists, errors.Conflict)
