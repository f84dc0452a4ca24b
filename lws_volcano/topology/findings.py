"""What is wrong with, or worth knowing about, a topology: values that name file, line, domain and the way out."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lws_volcano.api.errors import TopologyError

__all__ = ["Finding", "InvalidTopologyError", "Severity", "examples"]


class Severity(StrEnum):
    """An error costs the domain it is about (or, by default, the whole topology); a warning costs nothing."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found.

    Attributes
    ----------
    what
        What is wrong, naming the offending value.
    where
        File and line, or object and field; empty when nothing is known.
    domain
        The domain it is about, empty when it is about the whole.
    mend
        What to do about it.
    """

    severity: Severity
    what: str
    where: str = ""
    domain: str = ""
    mend: str = ""

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}; {self.mend}" if self.mend else head


class InvalidTopologyError(TopologyError):
    """A topology that was refused, with everything that was found; the text is the first error and a count."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        errors = [finding for finding in self.findings if finding.severity is Severity.ERROR]
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(first.what + more, first.where, first.mend)


def examples(names: Iterable[str], shown: int = 3) -> str:
    """A few names for a message: `a, b, c and 981 more`."""
    listed = list(names)
    rest = len(listed) - shown
    return ", ".join(listed[:shown]) + (f" and {rest} more" if rest > 0 else "")
