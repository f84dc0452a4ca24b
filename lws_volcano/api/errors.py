"""The tree of our errors.

    LwsVolcanoError
     +-- InputError             a person has to change something: what, where, how to mend it
     |    +-- QuantityError     a resource quantity that Kubernetes would refuse
     |    +-- TopologyError     a topology that is not a tree, or a file that cannot be read as one
     |    +-- UsageError        wrong command line
     +-- ClusterError           the API server answered no, or not at all (`kube.errors` has its kinds)

An InputError never becomes a traceback: the command line prints it and exits 1, the controller turns it into a
condition and an Event.
"""

from dataclasses import dataclass


class LwsVolcanoError(Exception):
    """Root of the tree."""


@dataclass
class InputError(LwsVolcanoError):
    """Something a person wrote is wrong.

    Attributes
    ----------
    what : str
        What is wrong, naming the offending value.
    where : str
        File and line, or object and field; empty when the caller adds it.
    mend : str
        What to do about it.
    """

    what: str
    where: str = ""
    mend: str = ""

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}; {self.mend}" if self.mend else head


class QuantityError(InputError):
    """A resource quantity that Kubernetes would refuse."""


class TopologyError(InputError):
    """A topology that is not a strict tree, or a file that cannot be read as one."""


class UsageError(InputError):
    """Wrong command line (exit code 2)."""


class ClusterError(LwsVolcanoError):
    """The API server answered no, or not at all."""
