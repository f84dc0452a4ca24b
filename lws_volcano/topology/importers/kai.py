"""KAI scheduler's Topology: levels by node label, broadest first, with aliases. Source: kai.scheduler/v1alpha1."""

from typing import Final

from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.level_lists import LevelList, read_level_list
from lws_volcano.topology.importers.source import Source

__all__ = ["read"]

_FORM: Final = LevelList("kai.scheduler", ("Topology",), key="nodeLabel", name="alias")


def read(source: Source) -> Imported:
    """The document of a KAI Topology and its nodes."""
    return read_level_list(_FORM, source)
