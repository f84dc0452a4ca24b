"""What could not be read: with it the other checks are blind, and so may be the controller."""

from collections.abc import Iterator

from lws_volcano.cli.checks.patient import Finding, Level, Patient

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Finding]:
    """Kinds and objects that were refused."""
    for what, why in sorted(patient.unread.items()):
        yield Finding(
            level=Level.WARNING,
            what=f"can't be read, so nothing is said about it: {why}",
            where=what,
            mend="run as somebody who may, or grant get and list on it",
        )
