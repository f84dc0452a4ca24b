"""What the configuration of the Volcano scheduler means for gangs and for network topology.

The ConfigMap that its chart installs holds one or more files with `tiers`, each a list of `plugins`. A plugin that is
not named there does not run, and what it would have enforced is left out without a word.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

__all__ = ["TOPOLOGY_PLUGIN", "plugins_of", "why_topology_is_ignored"]

TOPOLOGY_PLUGIN: Final = "network-topology-aware"


def plugins_of(config: Mapping[str, str]) -> set[str] | None:
    """Names of the enabled plugins in all files of the ConfigMap; None when one of them is not YAML."""
    found: set[str] = set()
    for text in config.values():
        try:
            document = yaml.safe_load(text)
        except yaml.YAMLError:
            return None
        found.update(_names(document))
    return found


def why_topology_is_ignored(config: Mapping[str, str], where: str) -> str:
    """Why a scheduler with this ConfigMap ignores `networkTopology`, and how to mend it; empty when it does not.

    Parameters
    ----------
    config
        Its `data`: file name -> text.
    where
        What the ConfigMap is called, for the message.
    """
    found = plugins_of(config)
    if found is None:
        # The scheduler keeps the last configuration that it could read, and which that was cannot be known.
        return ""
    if TOPOLOGY_PLUGIN in found:
        return ""
    return (
        f"the scheduler ignores networkTopology, hard too: {where} has no plugin {TOPOLOGY_PLUGIN}; "
        f"add `- name: {TOPOLOGY_PLUGIN}` to a tier"
    )


def _names(document: Any) -> Iterator[str]:
    tiers = document.get("tiers") if isinstance(document, dict) else None
    for tier in tiers if isinstance(tiers, list) else ():
        plugins = tier.get("plugins") if isinstance(tier, dict) else None
        for plugin in plugins if isinstance(plugins, list) else ():
            if isinstance(plugin, dict):
                yield str(plugin.get("name"))
