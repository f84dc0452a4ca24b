"""Name of a group's PodGroup: `<lws>-<group index>-<template revision hash>`.

It is the name that LWS's own Volcano provider would use, so that a cluster can change from one to the other. A name
that Kubernetes would refuse is a problem, never cut: a cut name could be another group's.
"""

from typing import Final

from lws_volcano.api.names import Reason
from lws_volcano.mapping.problems import Cost, Problem

__all__ = ["MAX_NAME", "check_name", "pod_group_name"]

MAX_NAME: Final = 253
"""Longest object name (DNS subdomain)."""


def pod_group_name(lws: str, group: str, revision: str) -> str:
    """Name of the PodGroup of one group of one revision."""
    return f"{lws}-{group}-{revision}"


def check_name(name: str) -> Problem | None:
    """Say so when the API server would refuse the name."""
    if len(name) <= MAX_NAME:
        return None
    return Problem(
        Reason.NAME_TOO_LONG,
        f"the PodGroup would be named {name[:40]}… with {len(name)} characters, {MAX_NAME} are allowed; "
        "give the LeaderWorkerSet a shorter name",
        Cost.EVERYTHING,
    )
