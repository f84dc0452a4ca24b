"""What an importer has to say: everything it found, and the refusal at the end when something was wrong."""

from dataclasses import dataclass, field

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.findings import Finding, InvalidTopologyError, Severity

__all__ = ["Notes"]


@dataclass(slots=True)
class Notes:
    """Findings in the order they came up.

    With `keep_going` an error costs what it is about and turns into a warning; without it, `settle` refuses the whole.
    """

    keep_going: bool = False
    findings: list[Finding] = field(default_factory=list)

    def error(self, what: str, where: str = "", mend: str = "") -> None:
        """Something is wrong; the caller leaves it out and goes on, so that one run shows everything."""
        self._add(Severity.ERROR, what, where, mend)

    def refused(self, error: TopologyError, where: str) -> None:
        """The same for an error that was raised somewhere below."""
        self.error(error.what, where, error.mend)

    def warn(self, what: str, where: str = "", mend: str = "") -> None:
        """Something is worth knowing."""
        self._add(Severity.WARNING, what, where, mend)

    def check(self) -> None:
        """Stop here when there were errors and nobody asked to keep going.

        Raises
        ------
        InvalidTopologyError
            With all of them.
        """
        errors = [finding for finding in self.findings if finding.severity is Severity.ERROR]
        if errors and not self.keep_going:
            raise InvalidTopologyError(errors)

    def settle(self) -> tuple[Finding, ...]:
        """Everything found; errors have become warnings.

        Raises
        ------
        InvalidTopologyError
            There were errors and nobody asked to keep going.
        """
        self.check()
        return tuple(
            Finding(severity=Severity.WARNING, what=f"left out: {f.what}", where=f.where, domain=f.domain, mend=f.mend)
            if f.severity is Severity.ERROR
            else f
            for f in self.findings
        )

    def _add(self, severity: Severity, what: str, where: str, mend: str) -> None:
        self.findings.append(Finding(severity=severity, what=what, where=where, mend=mend))
