"""What can go wrong with the local control plane.

LocalError             a person reads it: what happened and how to mend it
+-- BuildError        a program could not be built
+-- ApiError          the API server answered no
"""


class LocalError(Exception):
    """Root of the tree; the message is meant for people."""


class BuildError(LocalError):
    """A program could not be built."""


class ApiError(LocalError):
    """The API server answered no.

    Attributes
    ----------
    status : int
        HTTP status.
    reason : str
        Reason of the Status object, such as AlreadyExists.
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
