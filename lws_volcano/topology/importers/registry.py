"""The formats by name, and the one way in: whatever comes out has been built once as the strict tree that it claims."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.build import build
from lws_volcano.topology.findings import InvalidTopologyError, Origin
from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.source import Source

__all__ = ["FORMATS", "import_topology"]

FORMATS: Final[Mapping[str, str]] = {
    "slurm-conf": "Slurm topology.conf, tree or block",
    "slurm-yaml": "Slurm topology.yaml (25.05 on)",
    "topograph-graph": "JSON of topograph's graph engine",
    "topograph-model": "topograph model file, both layouts",
    "node-labels": "labels of nodes: --level KEY..., or those of a known cloud",
    "ibnetdiscover": "output of ibnetdiscover",
    "lldp": "output of `lldpctl -f json` of all hosts in one file",
    "hypernodes": "Volcano HyperNodes and nodes",
    "kueue": "Kueue Topology and nodes",
    "kai": "KAI Topology and nodes",
    "grove": "Grove ClusterTopologyBinding and nodes",
}
"""Names for the command line, with a summary each; the module of a format is named like it."""


def import_topology(form: str, source: Source) -> Imported:
    """The ClusterTopology that a file of this format stands for.

    Parameters
    ----------
    form
        One of `FORMATS`.
    source
        The text and what the caller wants of it.

    Raises
    ------
    TopologyError
        The file is of another format, broken, or stands for no strict tree; the message says where.
    """
    try:
        imported = _reader(form)(source)
        build(imported.document, origin=Origin(source.name))
    except InvalidTopologyError:
        raise
    except TopologyError as error:
        raise TopologyError(error.what, error.where or source.name, error.mend) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        shown = repr(first["input"])[:60]
        raise TopologyError(f"{shown} can't be written down: {first['msg']}", source.name, "correct the name") from None
    except RecursionError:
        raise TopologyError("nested too deeply", source.name, "correct the file") from None
    return replace(imported, findings=tuple(dict.fromkeys(imported.findings)))


def _reader(form: str) -> Callable[[Source], Imported]:
    module = importlib.import_module(f"{__package__}.{form.replace('-', '_')}")
    reader: Callable[[Source], Imported] = module.read
    return reader
