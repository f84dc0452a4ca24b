"""What is wrong with, or worth knowing about, a topology: values that name file, line, domain and the way out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lws_volcano.api.errors import TopologyError

__all__ = [
    "FieldPath",
    "Finding",
    "InvalidTopologyError",
    "Origin",
    "Report",
    "Severity",
    "examples",
    "unplaced_finding",
]

UNPLACED: Final = "unplaced"

FieldPath = tuple[str | int, ...]
"""Way to a value in a document, such as `("spec", "domains", 3, "parent")`."""


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
    about
        Where several findings are weighed up against each other: what kind this is (`UNPLACED`), else empty.
    """

    severity: Severity
    what: str
    where: str = ""
    domain: str = ""
    mend: str = ""
    about: str = ""

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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document comes from; this one knows the field only, a file knows the line (`file.FileOrigin`)."""

    name: str = ""

    def where(self, path: FieldPath) -> str:
        """Words for the place of a value."""
        return f"{self.name} {field_name(path)}".strip()


def field_name(path: FieldPath) -> str:
    """`spec.domains[3].parent`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


@dataclass(slots=True)
class Report:
    """Collects findings while a topology is built."""

    origin: Origin = field(default_factory=Origin)
    findings: list[Finding] = field(default_factory=list)

    def error(self, what: str, path: FieldPath = (), *, domain: str = "", mend: str = "") -> None:
        """Note something that makes the domain (or the whole) unusable."""
        where = self.origin.where(path)
        self.findings.append(Finding(severity=Severity.ERROR, what=what, where=where, domain=domain, mend=mend))

    def warn(self, what: str, path: FieldPath = (), *, domain: str = "", mend: str = "") -> None:
        """Note something that a person should know."""
        where = self.origin.where(path)
        self.findings.append(Finding(severity=Severity.WARNING, what=what, where=where, domain=domain, mend=mend))

    def raise_errors(self) -> None:
        """Refuse, if there was an error.

        Raises
        ------
        InvalidTopologyError
            With everything found so far.
        """
        if any(finding.severity is Severity.ERROR for finding in self.findings):
            raise InvalidTopologyError(self.findings)


def unplaced_finding(names: Sequence[str], where: str) -> Finding:
    """The warning about nodes that are in no domain."""
    count = "1 node is" if len(names) == 1 else f"{len(names)} nodes are"
    return Finding(
        severity=Severity.WARNING,
        what=f"{count} in no domain: {examples(names)}",
        where=where,
        mend="they are used last, and count as close to no other node",
        about=UNPLACED,
    )


def examples(names: Iterable[str], shown: int = 3) -> str:
    """A few names for a message: `a, b, c and 981 more`."""
    listed = list(names)
    rest = len(listed) - shown
    return ", ".join(listed[:shown]) + (f" and {rest} more" if rest > 0 else "")
