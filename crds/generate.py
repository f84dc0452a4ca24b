"""Write the files that are made from the ClusterTopology schema: `python crds/generate.py`."""

# ruff: noqa: INP001 - a script, not a package
import json
from pathlib import Path

import yaml

from lws_volcano.topology.custom_resource import custom_resource_definition, editor_schema

ROOT = Path(__file__).resolve().parents[1]
_NOTE = "# Generated from lws_volcano/topology/schema.py by crds/generate.py; do not edit.\n"


def rendered() -> dict[Path, str]:
    """Path -> content of each generated file."""
    definition = yaml.safe_dump(custom_resource_definition(), sort_keys=False, width=110)
    return {
        ROOT / "crds" / "clustertopologies.lws-volcano.io.yaml": _NOTE + definition,
        ROOT / "topology" / "schema.json": json.dumps(editor_schema(), indent=2) + "\n",
    }


def main() -> None:
    """Write them all."""
    for path, content in rendered().items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
