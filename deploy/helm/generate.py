"""Bring the generated parts of the chart up to date: `python -m deploy.helm.generate`.

The settings in `values.schema.json` come from `api.settings`, the CRDs in `files/crds` from `crds/`: Helm reads no file
outside of the chart.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from lws_volcano.api.settings import Settings

__all__ = ["CHART", "generate", "main"]

CHART: Final = Path(__file__).parent / "lws-volcano"
_CRDS: Final = Path(__file__).parents[2] / "crds"


def generate() -> dict[Path, str]:
    """Path -> text of everything that is generated."""
    schema_path = CHART / "values.schema.json"
    schema = json.loads(schema_path.read_text(encoding="utf-8"))
    schema["properties"]["config"] = _settings()
    crds = {CHART / "files" / "crds" / path.name: path.read_text(encoding="utf-8") for path in _CRDS.glob("*.yaml")}
    return {schema_path: json.dumps(schema, indent=2) + "\n", **crds}


def _settings() -> dict[str, Any]:
    fields = Settings.model_json_schema()["properties"]
    untitled = {name: {key: value for key, value in field.items() if key != "title"} for name, field in fields.items()}
    return {
        "type": "object",
        "description": "Settings of the controller (docs/reference.md, Configuration).",
        "additionalProperties": False,
        "properties": untitled,
    }


def main() -> int:
    """Write the files."""
    for path, text in generate().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
