"""LeaderWorkerSet's own gang scheduling, which owns the PodGroups where it is on."""

import re
from collections.abc import Iterator
from typing import Final

from lws_volcano.cli.checks.patient import Finding, Level, Patient

__all__ = ["check"]

_ON: Final = re.compile(r"^\s*schedulerProvider\s*:\s*[\"']?volcano\b", re.MULTILINE)


def check(patient: Patient) -> Iterator[Finding]:
    """The provider is on."""
    for text in (patient.lws_config or {}).values():
        if _ON.search(text):
            yield Finding(
                level=Level.ERROR,
                what="LeaderWorkerSet's own Volcano provider is on: it makes PodGroups, and lws-volcano stands down",
                where=f"ConfigMap {patient.installed.lws_config}",
                mend="remove gangSchedulingManagement from it and restart the LeaderWorkerSet manager",
            )
            return
