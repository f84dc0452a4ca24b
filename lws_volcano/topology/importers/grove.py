"""Grove's ClusterTopologyBinding, ClusterTopology before: named levels by node label, broadest first.

Source: grove.io/v1alpha1. The level `numa` is inside a node and `host` is the node, so neither is a domain.
"""

from typing import Final

from lws_volcano.topology.importers.document import Imported
from lws_volcano.topology.importers.level_lists import LevelList, read_level_list
from lws_volcano.topology.importers.source import Source

__all__ = ["read"]

_FORM: Final = LevelList(
    "grove.io",
    ("ClusterTopologyBinding", "ClusterTopology"),
    key="key",
    name="domain",
    inside_the_node=("host", "numa"),
)


def read(source: Source) -> Imported:
    """The document of a Grove topology and its nodes."""
    return read_level_list(_FORM, source)
